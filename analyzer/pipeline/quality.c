/* SPDX-License-Identifier: MIT
 *
 * quality.c - Owns: which metrics there are and how they stand to their floors. Threads: main only. Never: lets a floor
 * pass that could not be checked.
 */
#include "quality.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "document.h"
#include "quality_find.h"

/* The keys of the pipeline's document: always reported. */
static const char *const document_keys[] = {"run_grade_0_100", "precision_proxy", "recall_proxy", "miss_rate_proxy"};
enum { N_DOCUMENT_KEYS = sizeof document_keys / sizeof document_keys[0] };

static void add_metric(struct pt_quality *quality, const char *key)
{
    const struct pt_quality_metric metric = {.key = key, .place = key, .value = NAN, .min = NAN};
    pt_vec_push(quality, metric);
}

static struct pt_quality_metric *find_metric(struct pt_quality *quality, const char *name)
{
    for (size_t i = 0; i < quality->n; i++)
        if (!strcmp(quality->items[i].key, name) || !strcmp(quality->items[i].place, name))
            return &quality->items[i];
    return NULL;
}

/* A dotted path that ends in one of the four says where that one lies. */
static bool places_document_key(struct pt_quality *quality, const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < N_DOCUMENT_KEYS; i++)
        if (!strcmp(dot + 1, document_keys[i]) && quality->items[i].place == quality->items[i].key) {
            quality->items[i].place = path;
            return true;
        }
    return false;
}

static struct pt_quality_metric *name_metric(struct pt_quality *quality, const char *name)
{
    struct pt_quality_metric *metric = find_metric(quality, name);
    if (!metric && places_document_key(quality, name))
        metric = find_metric(quality, name);
    if (!metric) {
        add_metric(quality, name);
        metric = &quality->items[quality->n - 1];
    }
    return metric;
}

static void name_metrics(const struct pt_config_quality *wanted, struct pt_quality *quality)
{
    for (size_t i = 0; i < N_DOCUMENT_KEYS; i++)
        add_metric(quality, document_keys[i]);
    for (size_t i = 0; wanted->keys && wanted->keys[i]; i++)
        name_metric(quality, wanted->keys[i]);
    for (size_t i = 0; i < wanted->min.n; i++)
        name_metric(quality, wanted->min.items[i].name)->min = wanted->min.items[i].value;
}

/* File systems stamp with the kernel's tick, some with whole seconds only: a file that a stage has just written may
 * seem a little older than the run. */
static bool is_older(struct timespec modified, pt_u64 start_ns)
{
    const pt_u64 second = 1000000000, tick = 20000000;
    if (modified.tv_sec < 0)
        return true;
    const pt_u64 modified_ns = (pt_u64)modified.tv_sec * second + (pt_u64)modified.tv_nsec;
    return modified.tv_nsec == 0 ? modified_ns < start_ns - start_ns % second : modified_ns + tick < start_ns;
}

/* Why no value can be had from the file at all; NULL = it was read. */
static char *read_file(const char *file, pt_u64 start_realtime_ns, struct pt_document *document)
{
    struct pt_error err = {0};
    if (!file)
        return pt_strdup("profile.quality.file is not set, so no grade report is read");
    if (pt_document_read_report(file, document, &err) < 0)
        return pt_strdup(err.text);
    if (is_older(document->modified, start_realtime_ns))
        return pt_asprintf("%s: older than this run, so it is not of this run; does a stage write it?", file);
    if (!cJSON_IsObject(document->json) && !cJSON_IsArray(document->json))
        return pt_asprintf("%s: holds no keys: expected an object at the top", file);
    return NULL;
}

static void judge(struct pt_quality *quality)
{
    for (size_t i = 0; i < quality->n; i++) {
        struct pt_quality_metric *metric = &quality->items[i];
        metric->broken = !isnan(metric->min) && !(metric->value >= metric->min);
        quality->broken += metric->broken;
    }
}

void pt_quality_read(const struct pt_config *config, pt_u64 start_realtime_ns, struct pt_quality *ret_quality)
{
    const char *file = config->quality.file;
    struct pt_document document = {0};
    *ret_quality = (struct pt_quality){0};
    name_metrics(&config->quality, ret_quality);
    PT_AUTO(pt_freep) char *unreadable = read_file(file, start_realtime_ns, &document);
    for (size_t i = 0; i < ret_quality->n; i++) {
        struct pt_quality_metric *metric = &ret_quality->items[i];
        if (unreadable) {
            metric->reason = pt_strdup(unreadable);
            continue;
        }
        PT_AUTO(pt_freep) char *problem = pt_quality_find(document.json, metric->place, &metric->value);
        if (problem)
            metric->reason = pt_asprintf("%s: %s", file, problem);
    }
    pt_document_fini(&document);
    judge(ret_quality);
}

void pt_quality_fini(struct pt_quality *quality)
{
    for (size_t i = 0; i < quality->n; i++)
        free(quality->items[i].reason);
    free(quality->items);
    *quality = (struct pt_quality){0};
}

void pt_quality_describe_broken(const struct pt_quality_metric *metric, struct pt_str *out)
{
    if (isnan(metric->value))
        pt_str_printf(out, "%s is not known, so its floor of %.6g cannot be checked: %s", metric->key, metric->min,
                      metric->reason ? metric->reason : "no reason was given");
    else
        pt_str_printf(out, "%s is %.6g, below its floor of %.6g", metric->key, metric->value, metric->min);
}
