/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report says about each stage: the summary row, the time account, and the tables behind them. Threads:
 * one. Never: prints 0 for what nobody measured.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "facts/wait_kind.h"
#include "build.h"

/* ---- status ---- */

static struct pt_value exit_value(const struct pt_build *b, pt_u32 stage)
{
    static const char no_end[] = "no end was seen: killed, crashed or still running";
    const struct pt_run_stage *run = pt_profile_run_of(b->profile, stage);
    struct pt_process *root = b->profile->stages.items[stage].root;
    if (run && run->exit)
        return pt_text(run->exit);
    if (run && run->status)
        return pt_unknown(run->reason ? run->reason : run->status);
    const char *text = root ? pt_build_exit_text(b, pt_process_last_image(b->profile->session, root)) : NULL;
    return text ? pt_text(text) : pt_unknown(no_end);
}

static void add_status(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(b->profile, stage);
    const struct pt_value ended = exit_value(b, stage);
    const bool is_ok = ended.type == PT_VALUE_TEXT && !strcmp(ended.text, "exit 0");
    const char *status = run && run->status ? run->status : is_ok ? "ok" : "failed";
    pt_doc_value(b->doc, item, "status", "Status", PT_SHOW_TEXT, pt_text(status))->column = 6;
    pt_doc_value(b->doc, item, "exit", NULL, PT_SHOW_TEXT, ended);
    struct pt_value reason = pt_unknown(NULL);
    if (strcmp(status, "ok"))
        reason = pt_text(run && run->reason ? run->reason : ended.type == PT_VALUE_TEXT ? ended.text : ended.reason);
    pt_doc_value(b->doc, item, "reason", NULL, PT_SHOW_TEXT, reason);
}

/* ---- one stage as JSON has it; its columns make the summary table ---- */

/* columns: by part; NULL = for JSON only. */
static void add_time(const struct pt_build *b, struct pt_node *item, pt_u32 stage, const pt_u32 *columns)
{
    pt_build_metric(b, item, "wall_s", "Wall", PT_SHOW_SECONDS, stage, "time.wall_s")->column = columns ? 2 : 0;
    for (pt_u32 i = 0; i < PT_PART__COUNT; i++)
        pt_build_metric(b, item, pt_time_parts[i].key, pt_time_parts[i].label, PT_SHOW_SECONDS, stage,
                        pt_time_parts[i].metric)
            ->column = columns ? columns[i] : 0;
}

/* The largest parts first: a narrow terminal drops the last columns, and must not drop what matters. Parts that took no
 * time anywhere have no column. */
static void rank_parts(const struct pt_build *b, pt_u32 columns[PT_PART__COUNT])
{
    double total_s[PT_PART__COUNT] = {0};
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++)
        for (int i = 0; i < PT_PART__COUNT && pt_build_wants_stage(b, stage); i++)
            total_s[i] +=
                pt_value_number(pt_metrics_get(&b->profile->metrics, pt_scope_stage(stage), pt_time_parts[i].metric));
    for (int i = 0; i < PT_PART__COUNT; i++) {
        pt_u32 before = 0;
        for (int j = 0; j < PT_PART__COUNT; j++)
            before += total_s[j] > total_s[i] || (j < i && total_s[j] == total_s[i]);
        columns[i] = total_s[i] > 0 ? before + 3 : 0;
    }
}

static void add_memory(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    pt_build_mib(b, item, "rss_mb_max", "RAM Max", stage, "rss.max_bytes")->column = 4;
    pt_build_metric(b, item, "rss_of", NULL, PT_SHOW_TEXT, stage, "rss.max_of");
}

static void add_heap(const struct pt_build *b, struct pt_node *item, pt_u32 stage, const char *label)
{
    static const struct {
        const char *key, *label, *metric;
        enum pt_show show;
    } values[] = {
        {"allocs", "Allocations", "heap.allocs.calls", PT_SHOW_COUNT},
        {"frees", "Releases", "heap.frees.calls", PT_SHOW_COUNT},
        {"bytes", "Allocated", "heap.allocated.bytes", PT_SHOW_BYTES},
        {"live_bytes_peak_of_largest_process", "Live peak (largest process)", "heap.live_peak.bytes", PT_SHOW_BYTES},
        {"churn_bytes", "Short-lived (under 10 ms)", "heap.churn.bytes", PT_SHOW_BYTES},
        {"churn_share_percent", "Short-lived share of calls (est.)", "heap.churn.share_percent", PT_SHOW_PERCENT},
        {"growth_bytes", "Growth", "heap.growth.bytes", PT_SHOW_BYTES},
    };
    struct pt_node *heap = pt_doc_group(b->doc, item, "heap", label, PT_LAYOUT_LINES);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        pt_build_metric(b, heap, values[i].key, values[i].label, values[i].show, stage, values[i].metric);
}

static void add_training(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    const struct pt_metrics *metrics = &b->profile->metrics;
    if (pt_value_number(pt_metrics_get(metrics, pt_scope_stage(stage), "steps.count")) <= 0)
        return;
    struct pt_node *training = pt_doc_group(b->doc, item, "training", NULL, PT_LAYOUT_LINES);
    pt_build_metric(b, training, "steps", NULL, PT_SHOW_COUNT, stage, "steps.count");
    pt_build_metric(b, training, "epochs", NULL, PT_SHOW_COUNT, stage, "epochs.count");
    pt_doc_value(b->doc, training, "samples_per_s", NULL, PT_SHOW_PER_SECOND,
                 pt_unknown("batch sizes are not recorded"));
    pt_doc_value(b->doc, training, "dataloader_time_pct", NULL, PT_SHOW_PERCENT,
                 pt_unknown("training phases are not recorded"));
    pt_build_metric(b, training, "step_p50_s", NULL, PT_SHOW_SECONDS, stage, "steps.p50_s");
    pt_build_metric(b, training, "step_p95_s", NULL, PT_SHOW_SECONDS, stage, "steps.p95_s");
    pt_doc_group(b->doc, training, "phases", NULL, PT_LAYOUT_LINES);
}

static const struct {
    const char *name, *key, *label;
    size_t most_in_json;
} tables[] = {
    {"ranges", "ranges", "Ranges", 50},
    {"calls", "calls", "Calls", 100},
    {"io.files", "files", "Files", 50},
    {"io.groups", "file_groups", "Files by path group (* = a number)", 20},
    {"meta.directories", "directories", "Metadata by directory", 20},
    {"io.sizes", "io_sizes", "I/O sizes", 65},
    {"io.small_writes", "small_writes", "Small writes by file", 20},
    {"storage.files", "storage_waits", "Waits for storage", 20},
    {"net.hosts", "hosts", "Network by host", 20},
    {"net.names", "names", "Names resolved", 20},
    {"cpu.functions", "cpu_functions", "CPU by function", 50},
    {"cpu.off_stacks", "off_cpu_stacks", "Off-CPU by stack and reason", 20},
    {"heap.sites", "heap_sites", "Heap by function", 30},
    {"waits", "waits", "Waits for other processes and threads", 50},
    {"helpers.workers", "worker_use", "Utilisation of workers", 50},
    {"child.commands", "commands", "Commands waited for", 20},
    {"locks", "locks", "Locks waited for", 20},
    {"signals", "signals", "Semaphores and conditions waited for", 20},
    {"barriers", "barriers", "Barriers", 20},
    {"gil.threads", "gil", "Threads that waited for the GIL", 20},
    {"sleeps", "sleeps", "Sleeping main threads", 20},
    {"workers", "workers", "Main threads", 200},
};

static void add_tables(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct pt_table *table =
            pt_metrics_find_table(&b->profile->metrics, pt_scope_stage(stage), tables[i].name);
        if (table && (table->n_rows || !strcmp(tables[i].name, "calls")))
            pt_doc_table(b->doc, item, tables[i].key, NULL, table, tables[i].most_in_json);
    }
}

static void add_command(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(b->profile, stage);
    const struct pt_process *root = b->profile->stages.items[stage].root;
    if (run && run->command[0])
        pt_build_arguments(b, item, "command", run->command, INT32_MAX);
    else
        pt_build_arguments(b, item, "command", root ? (const char *const *)root->argv : NULL, root ? root->argc : 0);
}

static struct pt_value duration_value(const struct pt_build *b, pt_u32 stage)
{
    if (pt_stage_was_skipped(&b->profile->stages.items[stage]))
        return pt_unknown("the stage was skipped");
    const struct pt_run_stage *run = pt_profile_run_of(b->profile, stage);
    if (run && isnan(run->duration_ns) && !b->profile->stages.items[stage].root)
        return pt_unknown("the stage was never started");
    const pt_i64 wall_ns = pt_profile_stage_wall_ns(b->profile, stage);
    return wall_ns > 0 ? pt_seconds(wall_ns) : pt_unknown(pt_no_end_noted);
}

static void add_stage(const struct pt_build *b, struct pt_node *list, pt_u32 stage)
{
    struct pt_doc *doc = b->doc;
    struct pt_node *item = pt_doc_group(doc, list, NULL, NULL, PT_LAYOUT_LINES);
    const bool is_traced = b->profile->stages.items[stage].root != NULL;
    pt_doc_value(doc, item, "stage", "Stage", PT_SHOW_TEXT, pt_text(b->profile->stages.items[stage].name))->column = 1;
    add_status(b, item, stage);
    pt_doc_value(doc, item, "duration_s", "Duration", PT_SHOW_SECONDS, duration_value(b, stage))->column = 2;
    const struct pt_run_stage *run = pt_profile_run_of(b->profile, stage);
    if (run && run->stop_ns >= 0)
        pt_doc_value(doc, item, "stop_s", NULL, PT_SHOW_SECONDS, pt_seconds((pt_i64)run->stop_ns));
    pt_build_metric(b, item, "cpu_percent_avg", "CPU Avg", PT_SHOW_PERCENT, stage, "cpu.avg_percent")->column = 3;
    pt_build_metric(b, item, "cpu_percent_max", NULL, PT_SHOW_PERCENT, stage, "cpu.max_percent");
    pt_build_metric(b, item, "cpu_s", NULL, PT_SHOW_SECONDS, stage, "cpu.total_s");
    add_memory(b, item, stage);
    pt_build_metric(b, item, "gpu_util_percent_avg", "GPU Util", PT_SHOW_PERCENT, stage,
                    "resource.gpu_util_percent.mean")
        ->column = 5;
    pt_build_mib(b, item, "gpu_mem_mb_max", NULL, stage, "resource.gpu_mem_bytes.max");
    add_command(b, item, stage);
    add_time(b, pt_doc_group(doc, item, "time", NULL, PT_LAYOUT_LINES), stage, NULL);
    pt_build_resources(b, item, stage);
    pt_build_gpu(b, item, stage);
    if (!is_traced)
        return;
    add_heap(b, item, stage, NULL);
    add_training(b, item, stage);
    pt_build_threads(b, item, stage);
    add_tables(b, item, stage);
}

void pt_build_stages(const struct pt_build *b)
{
    struct pt_node *list = pt_doc_list(b->doc, b->doc->root, "stages", "Summary", PT_LAYOUT_TABLE);
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++)
        if (pt_build_wants_stage(b, stage))
            add_stage(b, list, stage);
}

/* ---- for people: the tables, each under a heading of its own ---- */

static void add_time_table(const struct pt_build *b)
{
    struct pt_node *list =
        pt_doc_list(b->doc, b->doc->root, "time_account", "Where the time of the main thread went", PT_LAYOUT_TABLE);
    pt_u32 columns[PT_PART__COUNT];
    list->people_only = true;
    rank_parts(b, columns);
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++) {
        if (!pt_build_wants_stage(b, stage) || pt_stage_was_skipped(&b->profile->stages.items[stage]))
            continue;
        struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
        pt_doc_value(b->doc, item, "stage", "Stage", PT_SHOW_TEXT, pt_text(b->profile->stages.items[stage].name))
            ->column = 1;
        add_time(b, item, stage, columns);
    }
}

static const char *titled(char *buffer, size_t room, const struct pt_build *b, const char *label, pt_u32 stage)
{
    if (b->profile->stages.n < 2)
        return label;
    snprintf(buffer, room, "%s: %s", b->profile->stages.items[stage].name, label);
    return buffer;
}

static void add_details_of(const struct pt_build *b, pt_u32 stage)
{
    char label[256];
    const struct pt_metrics *metrics = &b->profile->metrics;
    pt_build_thread_details(b, stage, titled(label, sizeof label, b, "Where the time of each thread went", stage));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct pt_table *table = pt_metrics_find_table(metrics, pt_scope_stage(stage), tables[i].name);
        if (!table || !table->n_rows)
            continue;
        struct pt_node *list =
            pt_doc_table(b->doc, b->doc->root, tables[i].key, titled(label, sizeof label, b, tables[i].label, stage),
                         table, b->options->top);
        list->people_only = true;
        list->is_detail = true;
    }
    struct pt_node *root = b->doc->root;
    add_heap(b, root, stage, titled(label, sizeof label, b, "Heap", stage));
    root->last->people_only = true;
    root->last->is_detail = true;
}

void pt_build_stage_details(const struct pt_build *b)
{
    add_time_table(b);
    pt_build_gpu_bars(b);
    char label[256];
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++) {
        if (!pt_build_wants_stage(b, stage))
            continue;
        pt_build_gpu_details(b, stage);
        pt_build_flame(b, stage, titled(label, sizeof label, b, "CPU flame graph", stage));
        if (b->profile->stages.items[stage].root)
            add_details_of(b, stage);
    }
}
