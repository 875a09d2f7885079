/* SPDX-License-Identifier: MIT
 *
 * Owns: the order of a report and its head. Threads: one. Never: computes what an analysis could compute.
 */
#include "build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../util/redact.h"

bool pt_build_wants_stage(const struct pt_build *b, pt_u32 stage)
{
    return !b->options->stage || !strcmp(b->options->stage, b->profile->stages.items[stage].name);
}

struct pt_node *pt_build_metric(const struct pt_build *b, struct pt_node *parent, const char *key, const char *label,
                                enum pt_show show, pt_u32 stage, const char *metric)
{
    const struct pt_value value = pt_metrics_get(&b->profile->metrics, pt_scope_stage(stage), metric);
    return pt_doc_value(b->doc, parent, key, label, show, value);
}

void pt_build_arguments(const struct pt_build *b, struct pt_node *parent, const char *key, const char *const *argv,
                        int argc)
{
    struct pt_node *list = pt_doc_list(b->doc, parent, key, NULL, PT_LAYOUT_PLAIN);
    for (int i = 0; i < argc && argv[i]; i++) {
        char *redacted = pt_redact_argument(argv[i], i ? argv[i - 1] : NULL);
        pt_doc_value(b->doc, list, NULL, NULL, PT_SHOW_TEXT, pt_text(redacted ? redacted : "***"));
        free(redacted);
    }
}

static struct pt_value timestamp(const struct pt_build *b, char *buffer, size_t room)
{
    const struct pt_run_info *run = b->profile->run;
    const pt_u64 ns =
        run && run->start_realtime_ns > 0 ? (pt_u64)run->start_realtime_ns : b->profile->session->start_realtime_ns;
    const time_t seconds = (time_t)(ns / 1000000000);
    struct tm utc;
    if (!ns || !gmtime_r(&seconds, &utc) || !strftime(buffer, room, "%Y-%m-%dT%H:%M:%SZ", &utc))
        return pt_unknown("no process noted the time");
    return pt_text(buffer);
}

static void add_head(const struct pt_build *b)
{
    static const char no_pipeline[] = "not run as a pipeline";
    struct pt_doc *doc = b->doc;
    struct pt_node *root = doc->root;
    char when[32];
    pt_doc_value(doc, root, "schema_version", NULL, PT_SHOW_TEXT, pt_text("1.0"));
    pt_doc_value(doc, root, "tool", NULL, PT_SHOW_TEXT, pt_text("proftrace " PROFTRACE_VERSION));
    pt_doc_value(doc, root, "run", "Run", PT_SHOW_TEXT, pt_text(b->profile->session->name));
    pt_doc_value(doc, root, "timestamp_utc", "Started", PT_SHOW_TEXT, timestamp(b, when, sizeof when));
    pt_doc_value(doc, root, "dataset", NULL, PT_SHOW_TEXT, pt_unknown(no_pipeline));
    pt_doc_value(doc, root, "train_epochs", NULL, PT_SHOW_COUNT, pt_unknown(no_pipeline));
    pt_doc_value(doc, root, "total_duration_s", "Duration", PT_SHOW_SECONDS,
                 pt_seconds(pt_profile_wall_ns(b->profile)));
}

static void add_quality_metrics(const struct pt_build *b)
{
    static const struct {
        const char *key, *label;
    } metrics[] = {
        {"run_grade_0_100", "Grade"},
        {"precision_proxy", "Precision"},
        {"recall_proxy", "Recall"},
        {"miss_rate_proxy", "Miss rate"},
    };
    struct pt_node *group = pt_doc_group(b->doc, b->doc->root, "quality_metrics", NULL, PT_LAYOUT_LINES);
    struct pt_node *people = pt_doc_group(b->doc, b->doc->root, NULL, "Quality", PT_LAYOUT_LINES);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        pt_doc_value(b->doc, group, metrics[i].key, NULL, PT_SHOW_NUMBER, pt_unknown("no grade report"));
        pt_doc_value(b->doc, people, NULL, metrics[i].label, PT_SHOW_NUMBER, pt_unknown(i ? NULL : "no grade report"));
    }
}

struct pt_doc *pt_report_build(const struct pt_profile *profile, const struct pt_findings *findings,
                               const struct pt_report_options *options)
{
    const struct pt_build b = {profile, findings, options, pt_doc_new()};
    add_head(&b);
    pt_build_stages(&b);
    add_quality_metrics(&b);
    pt_build_findings(&b);
    pt_build_stage_details(&b);
    pt_build_processes(&b);
    pt_build_trace_quality(&b);
    return b.doc;
}
