/* SPDX-License-Identifier: MIT
 *
 * Owns: the order of a report and its head. Threads: one. Never: computes what an analysis could compute.
 */
#include "build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/text/redact.h"

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

struct pt_node *pt_build_mib(const struct pt_build *b, struct pt_node *parent, const char *key, const char *label,
                             pt_u32 stage, const char *metric)
{
    struct pt_value bytes = pt_metrics_get(&b->profile->metrics, pt_scope_stage(stage), metric);
    if (bytes.type != PT_VALUE_UNKNOWN)
        bytes = pt_real(pt_value_number(bytes) / (1024.0 * 1024.0));
    return pt_doc_value(b->doc, parent, key, label, PT_SHOW_MIB, bytes);
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

/* Where it ran: without it two reports cannot be compared. */
static void add_place(const struct pt_build *b)
{
    static const char no_launcher[] = "no launcher noted it";
    const struct pt_run_info *run = b->profile->run;
    struct pt_doc *doc = b->doc;
    const char *host = run ? run->host : NULL;
    char commit[13] = "";
    for (size_t i = 0; run && run->git_commit && i < sizeof commit - 1 && run->git_commit[i]; i++)
        commit[i] = run->git_commit[i];
    pt_doc_value(doc, doc->root, "host", host ? "Host" : NULL, PT_SHOW_TEXT,
                 host ? pt_text(host) : pt_unknown(no_launcher));
    pt_doc_value(doc, doc->root, "git_commit", *commit ? "Commit" : NULL, PT_SHOW_TEXT,
                 *commit ? pt_text(commit) : pt_unknown("not started in a git repository"));
    struct pt_node *machine = pt_doc_group(doc, doc->root, "machine", NULL, PT_LAYOUT_LINES);
    pt_doc_value(doc, machine, "cpus", NULL, PT_SHOW_COUNT,
                 run && run->cpus > 0 ? pt_integer((pt_u64)run->cpus) : pt_unknown(no_launcher));
    pt_doc_value(doc, machine, "memory_bytes", NULL, PT_SHOW_BYTES,
                 run && run->memory_bytes > 0 ? pt_integer((pt_u64)run->memory_bytes) : pt_unknown(no_launcher));
}

static void add_head(const struct pt_build *b)
{
    const struct pt_run_info *run = b->profile->run;
    const char *no_pipeline = run && run->is_pipeline ? "the configuration does not say" : "not run as a pipeline";
    const char *dataset = run ? run->pipeline.dataset : NULL;
    const double epochs = run ? run->pipeline.train_epochs : NAN;
    struct pt_doc *doc = b->doc;
    struct pt_node *root = doc->root;
    const pt_i64 wall_ns = pt_profile_wall_ns(b->profile);
    char when[32];
    pt_doc_value(doc, root, "schema_version", NULL, PT_SHOW_TEXT, pt_text("1.0"));
    pt_doc_value(doc, root, "tool", NULL, PT_SHOW_TEXT, pt_text("proftrace " PROFTRACE_VERSION));
    pt_doc_value(doc, root, "run", "Run", PT_SHOW_TEXT, pt_text(b->profile->session->name));
    pt_doc_value(doc, root, "timestamp_utc", "Started", PT_SHOW_TEXT, timestamp(b, when, sizeof when));
    pt_doc_value(doc, root, "dataset", dataset ? "Dataset" : NULL, PT_SHOW_TEXT,
                 dataset ? pt_text(dataset) : pt_unknown(no_pipeline));
    pt_doc_value(doc, root, "train_epochs", epochs > 0 ? "Epochs" : NULL, PT_SHOW_COUNT,
                 epochs > 0 ? pt_integer((pt_u64)epochs) : pt_unknown(no_pipeline));
    pt_doc_value(doc, root, "total_duration_s", "Duration", PT_SHOW_SECONDS,
                 wall_ns > 0 ? pt_seconds(wall_ns) : pt_unknown(pt_no_end_noted));
    add_place(b);
}

struct pt_doc *pt_report_build(const struct pt_profile *profile, const struct pt_findings *findings,
                               const struct pt_report_options *options)
{
    const struct pt_build b = {profile, findings, options, pt_doc_new()};
    add_head(&b);
    pt_build_stages(&b);
    pt_build_quality(&b);
    pt_build_failures(&b);
    pt_build_findings(&b);
    pt_build_charts(&b);
    pt_build_gpu_charts(&b);
    pt_build_resource_table(&b);
    pt_build_stage_details(&b);
    pt_build_processes(&b);
    pt_build_trace_quality(&b);
    return b.doc;
}
