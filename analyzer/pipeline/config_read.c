/* SPDX-License-Identifier: MIT
 *
 * config_read.c - Owns: the priority of file, environment and options. Threads: main only. Never: reads the sections
 * that belong to the stages, except for what the temporary configuration changes in them.
 */
#include "config_read.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/nearest.h"
#include "config_section.h"
#include "config_stages.h"
#include "document.h"

/* Without `profile` all values are defaults; that is allowed, unless there is a section with a misspelt name. */
static void warn_misspelt_section(struct pt_config *config, const cJSON *json)
{
    static const char *const wanted[] = {"profile", NULL};
    const cJSON *item;
    cJSON_ArrayForEach(item, json)
    {
        if (!strcmp(item->string, wanted[0])) /* it is null */
            return;
        if (!pt_nearest_name(item->string, wanted))
            continue;
        pt_config_warn(config, "%s: there is no section 'profile', so the defaults hold; did you mean it by '%.80s'?",
                       config->path, item->string);
        return;
    }
}

/* The temporary configuration changes these: what they are must be known before the first stage runs. */
static int check_shared_sections(const cJSON *json, struct pt_error *err)
{
    static const char *const sections[] = {"paths", "run", "train"};
    const cJSON *section;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (pt_config_object(json, sections[i], &section, err) < 0)
            return -1;
    return 0;
}

static int read_subsection(struct pt_config *config, const cJSON *profile, enum pt_config_section section,
                           const char *name, void *fields, struct pt_error *err)
{
    const cJSON *object = cJSON_GetObjectItemCaseSensitive(profile, name);
    PT_AUTO(pt_freep) char *where = pt_asprintf("profile.%s", name);
    if (!object || cJSON_IsNull(object))
        return 0;
    if (!cJSON_IsObject(object))
        return pt_config_wrong(where, "an object", object, err);
    return pt_config_read_section(config, section, object, fields, where, err);
}

static int check_quality_keys(const struct pt_config_quality *quality, struct pt_error *err)
{
    for (size_t i = 0; quality->keys && quality->keys[i]; i++)
        if (!*quality->keys[i])
            return pt_fail_code(err, 2, "profile.quality.keys[%zu] is empty; name a key of the grade report", i);
    return 0;
}

static int read_profile(struct pt_config *config, const cJSON *json, struct pt_error *err)
{
    const cJSON *profile;
    if (!cJSON_IsObject(json))
        return pt_config_wrong("the document", "an object ({...})", json, err);
    if (pt_config_object(json, "profile", &profile, err) < 0 || check_shared_sections(json, err) < 0)
        return -1;
    if (!profile)
        warn_misspelt_section(config, json);
    if (profile && pt_config_read_section(config, PT_CONFIG_PROFILE, profile, config, "profile", err) < 0)
        return -1;
    if (pt_config_stages(config, cJSON_GetObjectItemCaseSensitive(profile, "stages"), err) < 0 ||
        read_subsection(config, profile, PT_CONFIG_QUALITY, "quality", &config->quality, err) < 0 ||
        read_subsection(config, profile, PT_CONFIG_THRESHOLDS, "thresholds", &config->thresholds, err) < 0)
        return -1;
    return check_quality_keys(&config->quality, err);
}

/* An option or a variable, if it is given. */
static int override(struct pt_config *config, const char *name, const char *text, const char *where,
                    struct pt_error *err)
{
    if (!text)
        return 0;
    return pt_config_set_text(config, pt_config_key(PT_CONFIG_PROFILE, name), text, config, where, err);
}

static const char *variable(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static int apply_overrides(struct pt_config *config, const struct pt_config_overrides *given, struct pt_error *err)
{
    /* A variable that an option overrides is not checked. */
    const char *interval = given->interval ? NULL : variable("PROFTRACE_INTERVAL_MS");
    const char *heap = given->heap ? NULL : variable("PROFTRACE_HEAP");
    if (override(config, "interval_ms", interval, "PROFTRACE_INTERVAL_MS", err) < 0 ||
        override(config, "heap", heap, "PROFTRACE_HEAP", err) < 0 ||
        override(config, "interval_ms", given->interval, "option '--interval'", err) < 0 ||
        override(config, "heap", given->heap, "option '--heap'", err) < 0 ||
        override(config, "dataset", given->dataset, "option '--dataset'", err) < 0 ||
        override(config, "train_epochs", given->train_epochs, "option '--train-epochs'", err) < 0 ||
        override(config, "report_dir", given->report_dir, "option '--report-dir'", err) < 0)
        return -1;
    if (!config->report_dir &&
        override(config, "report_dir", given->default_report_dir, "option '--default-report-dir'", err) < 0)
        return -1;
    config->gpu_sampling = config->gpu_sampling && !given->no_gpu_sampling;
    config->interval_ns = (pt_u64)llround(config->interval_ms * 1e6);
    return pt_config_select(config, &given->stages, err);
}

int pt_config_read(const char *path, const struct pt_config_overrides *overrides, struct pt_config **ret_config,
                   struct pt_error *err)
{
    static const struct pt_config_overrides none;
    struct pt_document document;
    if (!*path)
        return pt_fail_code(err, 2, "the path of the configuration is empty; name a JSON file");
    if (pt_document_read(path, &document, err) < 0)
        return -1;
    struct pt_config *config = pt_calloc(1, sizeof *config);
    config->path = pt_config_keep(config, path);
    config->absolute = pt_config_keep_path(config, path);
    pt_config_defaults(PT_CONFIG_PROFILE, config);
    pt_config_defaults(PT_CONFIG_QUALITY, &config->quality);
    pt_config_defaults(PT_CONFIG_THRESHOLDS, &config->thresholds);
    int done = read_profile(config, document.json, err);
    if (done < 0)
        pt_error_context(err, "%s", path);
    else
        done = apply_overrides(config, overrides ? overrides : &none, err);
    config->text = document.text;
    document.text = (struct pt_str){0};
    pt_document_fini(&document);
    if (done < 0) {
        pt_config_free(config);
        return -1;
    }
    *ret_config = config;
    return 0;
}
