/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report says about the quality that a pipeline reached: the document's four metrics always, and those
 * that the configuration names. Threads: one. Never: judges; the floors are the configuration's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "build.h"

static const struct {
    const char *key, *label;
} well_known[] = {
    {"run_grade_0_100", "Grade"},
    {"precision_proxy", "Precision"},
    {"recall_proxy", "Recall"},
    {"miss_rate_proxy", "Miss rate"},
};

enum { N_WELL_KNOWN = sizeof well_known / sizeof *well_known };

static const char *label_of(const char *key)
{
    for (size_t i = 0; i < N_WELL_KNOWN; i++)
        if (!strcmp(well_known[i].key, key))
            return well_known[i].label;
    return key;
}

static const struct pt_run_quality *find(const struct pt_run_info *run, const char *key)
{
    for (pt_u32 i = 0; run && i < run->pipeline.n_quality; i++)
        if (!strcmp(run->pipeline.quality[i].key, key))
            return &run->pipeline.quality[i];
    return NULL;
}

static bool is_well_known(const char *key)
{
    return label_of(key) != key;
}

/* With every metric missing for the same reason, saying it once is enough. */
static struct pt_value shown_value(const struct pt_run_quality *metric, const char **last_reason)
{
    const char *reason = metric && metric->reason ? metric->reason : "no grade report";
    if (metric && !isnan(metric->value))
        return pt_real(metric->value);
    const bool again = *last_reason && !strcmp(*last_reason, reason);
    *last_reason = reason;
    return pt_unknown(again ? NULL : reason);
}

static void add_metric(const struct pt_build *b, struct pt_node *group, struct pt_node *people, const char *key,
                       const char **last_reason)
{
    const struct pt_run_quality *metric = find(b->profile->run, key);
    const char *nothing = NULL;
    pt_doc_value(b->doc, group, key, NULL, PT_SHOW_NUMBER, shown_value(metric, &nothing));
    char label[128];
    if (metric && !isnan(metric->min))
        snprintf(label, sizeof label, "%s (at least %g)", label_of(key), metric->min);
    else
        snprintf(label, sizeof label, "%s", label_of(key));
    const struct pt_value shown = shown_value(metric, last_reason);
    char of_100[40];
    snprintf(of_100, sizeof of_100, "%g/100", metric ? metric->value : NAN);
    if (shown.type == PT_VALUE_REAL && !strcmp(key, well_known[0].key))
        pt_doc_value(b->doc, people, NULL, label, PT_SHOW_TEXT, pt_text(of_100));
    else
        pt_doc_value(b->doc, people, NULL, label, PT_SHOW_NUMBER, shown);
}

/* Floors that do not hold, for machines that read the report. */
static void add_broken_floors(const struct pt_build *b)
{
    const struct pt_run_info *run = b->profile->run;
    if (!run || !run->is_pipeline)
        return;
    struct pt_node *list = pt_doc_list(b->doc, b->doc->root, "quality_floors_broken", NULL, PT_LAYOUT_TABLE);
    for (pt_u32 i = 0; i < run->pipeline.n_quality; i++) {
        const struct pt_run_quality *metric = &run->pipeline.quality[i];
        if (isnan(metric->min) || metric->value >= metric->min)
            continue;
        struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
        pt_doc_value(b->doc, item, "key", "Metric", PT_SHOW_TEXT, pt_text(metric->key));
        pt_doc_value(b->doc, item, "value", "Value", PT_SHOW_NUMBER,
                     isnan(metric->value) ? pt_unknown(metric->reason) : pt_real(metric->value));
        pt_doc_value(b->doc, item, "min", "At least", PT_SHOW_NUMBER, pt_real(metric->min));
    }
}

void pt_build_quality(const struct pt_build *b)
{
    const struct pt_run_info *run = b->profile->run;
    struct pt_node *group = pt_doc_group(b->doc, b->doc->root, "quality_metrics", NULL, PT_LAYOUT_LINES);
    struct pt_node *people = pt_doc_group(b->doc, b->doc->root, "quality_shown", "Quality", PT_LAYOUT_LINES);
    people->people_only = true;
    const char *last_reason = NULL;
    for (size_t i = 0; i < N_WELL_KNOWN; i++)
        add_metric(b, group, people, well_known[i].key, &last_reason);
    for (pt_u32 i = 0; run && i < run->pipeline.n_quality; i++)
        if (!is_well_known(run->pipeline.quality[i].key))
            add_metric(b, group, people, run->pipeline.quality[i].key, &last_reason);
    add_broken_floors(b);
}
