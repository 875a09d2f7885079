/* SPDX-License-Identifier: MIT
 *
 * quality.c - Owns: the list of quality metrics, and the check against their floors. Threads: main only. Never: accepts
 * a floor that could not be checked.
 */
#include "quality.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "document.h"
#include "grade_file.h"
#include "quality_find.h"

/* The keys of the pipeline's document: always reported. */
static const char *const document_keys[] = {"run_grade_0_100", "precision_proxy", "recall_proxy", "miss_rate_proxy"};
enum { N_DOCUMENT_KEYS = sizeof document_keys / sizeof document_keys[0] };

/* Where each metric is read: at its key, or at the dotted path that the user gave for it. */
struct places {
    PT_VEC(const char *);
};

static void add_metric(struct pt_quality_metrics *quality, struct places *places, const char *key)
{
    pt_vec_push(quality, ((struct pt_run_quality){.key = key, .value = NAN, .min = NAN}));
    pt_vec_push(places, key);
}

static struct pt_run_quality *find_metric(struct pt_quality_metrics *quality, const struct places *places,
                                          const char *name)
{
    for (size_t i = 0; i < quality->n; i++)
        if (!strcmp(quality->items[i].key, name) || !strcmp(places->items[i], name))
            return &quality->items[i];
    return NULL;
}

/* A dotted path that ends in one of the four keys gives the place of that one. */
static bool places_document_key(const struct pt_quality_metrics *quality, struct places *places, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < N_DOCUMENT_KEYS; i++)
        if (!strcmp(dot + 1, document_keys[i]) && places->items[i] == quality->items[i].key) {
            places->items[i] = path;
            return true;
        }
    return false;
}

static struct pt_run_quality *name_metric(struct pt_quality_metrics *quality, struct places *places, const char *name)
{
    struct pt_run_quality *metric = find_metric(quality, places, name);
    if (!metric && places_document_key(quality, places, name))
        metric = find_metric(quality, places, name);
    if (metric)
        return metric;
    add_metric(quality, places, name);
    return &quality->items[quality->n - 1];
}

static void name_metrics(const struct pt_config_quality *wanted, struct pt_quality_metrics *quality,
                         struct places *places)
{
    for (size_t i = 0; i < N_DOCUMENT_KEYS; i++)
        add_metric(quality, places, document_keys[i]);
    for (size_t i = 0; wanted->keys && wanted->keys[i]; i++)
        name_metric(quality, places, wanted->keys[i]);
    for (size_t i = 0; i < wanted->min.n; i++)
        name_metric(quality, places, wanted->min.items[i].name)->min = wanted->min.items[i].value;
}

/* Why no value can be had from the file at all; NULL = it was read. */
static char *read_file(const char *file, pt_u64 start_realtime_ns, struct pt_document *document)
{
    struct pt_error err = {0};
    if (!file)
        return pt_strdup("profile.quality.file is not set, and nobody looked for a grade report");
    if (pt_document_read_report(file, document, &err) < 0)
        return pt_strdup(err.text);
    if (pt_is_older_than_run(document->modified, start_realtime_ns))
        return pt_asprintf("%s: older than this run, so it is not of this run; does a stage write it?", file);
    if (!cJSON_IsObject(document->json) && !cJSON_IsArray(document->json))
        return pt_asprintf("%s: holds no keys: expected an object at the top", file);
    return NULL;
}

static const char *keep(struct pt_quality_metrics *quality, const char *text)
{
    return pt_arena_text(&quality->texts, text, strlen(text));
}

static void all_unknown(struct pt_quality_metrics *quality, const char *reason)
{
    for (size_t i = 0; i < quality->n; i++)
        quality->items[i].reason = keep(quality, reason);
}

static void take_values(struct pt_quality_metrics *quality, const struct places *places, const char *file,
                        const cJSON *json)
{
    quality->file = keep(quality, file);
    for (size_t i = 0; i < quality->n; i++) {
        const struct pt_quality_value found = pt_quality_find(json, places->items[i]);
        PT_AUTO(pt_freep) char *problem = found.problem;
        PT_AUTO(pt_freep) char *reason = problem ? pt_asprintf("%s: %s", file, problem) : NULL;
        quality->items[i].value = found.value;
        quality->items[i].reason = reason ? keep(quality, reason) : NULL;
    }
}

void pt_quality_read(const struct pt_config *config, pt_u64 start_realtime_ns, struct pt_quality_metrics *ret_quality)
{
    struct pt_document document = {0};
    struct places places = {0};
    *ret_quality = (struct pt_quality_metrics){0};
    name_metrics(&config->quality, ret_quality, &places);
    PT_AUTO(pt_freep) char *unreadable = read_file(config->quality.file, start_realtime_ns, &document);
    if (unreadable)
        all_unknown(ret_quality, unreadable);
    else
        take_values(ret_quality, &places, config->quality.file, document.json);
    pt_document_fini(&document);
    free(places.items);
}

void pt_quality_search(const struct pt_config *config, pt_u64 start_realtime_ns, const struct pt_written_files *written,
                       struct pt_quality_metrics *ret_quality)
{
    struct places places = {0};
    struct pt_grade_file file;
    *ret_quality = (struct pt_quality_metrics){0};
    name_metrics(&config->quality, ret_quality, &places);
    const struct pt_grade_search search = {written->paths, written->n, places.items, places.n, start_realtime_ns};
    pt_grade_file_choose(&search, &file);
    if (file.path) {
        take_values(ret_quality, &places, file.path, file.document.json);
    } else {
        PT_AUTO(pt_freep)
        char *reason = pt_asprintf("no grade report was found: %s%s%s; name it in profile.quality.file",
                                   pt_str_text(&file.why_none), written->unseen ? "; " : "",
                                   written->unseen ? written->unseen : "");
        all_unknown(ret_quality, reason);
    }
    pt_grade_file_fini(&file);
    free(places.items);
}

void pt_quality_fini(struct pt_quality_metrics *quality)
{
    free(quality->items);
    pt_arena_fini(&quality->texts);
    *quality = (struct pt_quality_metrics){0};
}

bool pt_quality_is_broken(const struct pt_run_quality *metric)
{
    return !isnan(metric->min) && !(metric->value >= metric->min);
}

void pt_quality_describe_broken(const struct pt_run_quality *metric, struct pt_str *out)
{
    if (isnan(metric->value))
        pt_str_printf(out, "%s is not known, so its floor of %.6g cannot be checked: %s", metric->key, metric->min,
                      metric->reason ? metric->reason : "no reason was given");
    else
        pt_str_printf(out, "%s is %.6g, below its floor of %.6g", metric->key, metric->value, metric->min);
}
