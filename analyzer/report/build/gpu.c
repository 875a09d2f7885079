/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report says about GPUs: report.json has an object per stage with a list of devices, people get a few
 * lines and tables. Threads: one. Never: says nothing where GPU work was not seen: the reason is said.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/gpu/gpu.h"
#include "facts/wait_kind.h"
#include "build.h"

static const struct pt_table *table_of(const struct pt_build *b, pt_u32 stage, const char *name)
{
    const struct pt_table *table = pt_metrics_find_table(&b->profile->metrics, pt_scope_stage(stage), name);
    return table && table->n_rows ? table : NULL;
}

static bool uses_gpu(const struct pt_build *b, pt_u32 stage)
{
    return pt_metrics_has(&b->profile->metrics, pt_scope_stage(stage), "gpu.source");
}

/* ---- for JSON ---- */

static struct pt_value cell(const struct pt_table *table, size_t row, const char *key)
{
    for (pt_u32 i = 0; i < table->n_columns; i++)
        if (!strcmp(table->columns[i].key, key))
            return pt_table_row(table, row)[i];
    return pt_unknown(NULL);
}

/* The rows of one device, without the column that says so. */
static void add_rows_of(const struct pt_build *b, struct pt_node *parent, pt_u32 stage, const char *key,
                        const char *name, double device)
{
    struct pt_node *list = pt_doc_list(b->doc, parent, key, NULL, PT_LAYOUT_TABLE);
    const struct pt_table *table = table_of(b, stage, name);
    for (size_t row = 0; table && row < table->n_rows; row++) {
        if (pt_value_number(cell(table, row, "device")) != device)
            continue;
        struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
        for (pt_u32 i = 0; i < table->n_columns; i++) {
            struct pt_value value = pt_table_row(table, row)[i];
            if (!strcmp(table->columns[i].key, "cause") && value.type == PT_VALUE_TEXT)
                value = pt_text(gpu_causes[gpu_cause_of_label(value.text)].id);
            if (strcmp(table->columns[i].key, "device") != 0)
                pt_doc_value(b->doc, item, table->columns[i].key, NULL, table->columns[i].show, value);
        }
    }
}

static void add_device(const struct pt_build *b, struct pt_node *list, pt_u32 stage, const struct pt_table *devices,
                       size_t row)
{
    static const struct {
        const char *key, *table;
    } lists[] = {
        {"kernels", "gpu.kernels"},         {"copies", "gpu.copies"},           {"copy_sizes", "gpu.copy_sizes"},
        {"idle_causes", "gpu.idle_causes"}, {"idle_places", "gpu.idle_places"}, {"streams", "gpu.streams"},
    };
    struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
    for (pt_u32 i = 0; i < devices->n_columns; i++)
        pt_doc_value(b->doc, item, devices->columns[i].key, NULL, devices->columns[i].show,
                     pt_table_row(devices, row)[i]);
    const double id = pt_value_number(cell(devices, row, "id"));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        add_rows_of(b, item, stage, lists[i].key, lists[i].table, id);
}

static const struct {
    const char *name, *key, *label;
    bool is_of_device;
} tables[] = {
    {"gpu.not_seen", "not_seen", "When GPU work was not seen", false},
    {"gpu.devices", "gpu_devices", "GPUs", true},
    {"gpu.idle_causes", "gpu_idle_causes", "Why the GPU was idle", true},
    {"gpu.idle_places", "gpu_idle_places", "Where the time went in which the GPU was idle", true},
    {"gpu.kernels", "gpu_kernels", "GPU kernels", true},
    {"gpu.launches", "launches", "From the launch of a kernel to its end", false},
    {"gpu.copies", "gpu_copies", "GPU copies and sets", true},
    {"gpu.copy_sizes", "gpu_copy_sizes", "Sizes of GPU copies", true},
    {"gpu.streams", "gpu_streams", "GPU streams", true},
    {"gpu.memory", "memory", "GPU memory", false},
    {"gpu.pools", "pools", "Pools of GPU memory", false},
    {"gpu.ranges", "ranges", "GPU time of ranges", false},
    {"gpu.pace", "pace", "Pace of the steps", false},
    {"gpu.calls", "calls", "CUDA calls", false},
    {"gpu.wrapped", "wrapped_calls", "CUDA calls seen by wrappers", false},
    {"gpu.syncs", "synchronisations", "Synchronisations with the GPU", false},
    {"gpu.overheads", "overheads", "Time the CUDA driver took", false},
    {"gpu.collectives", "collectives", "NCCL by process", false},
};
enum { N_TABLES = sizeof tables / sizeof *tables, MOST_ROWS = 200 };

void pt_build_gpu(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    if (!uses_gpu(b, stage))
        return;
    struct pt_node *gpu = pt_doc_group(b->doc, item, "gpu", NULL, PT_LAYOUT_LINES);
    pt_build_metric(b, gpu, "source", NULL, PT_SHOW_TEXT, stage, "gpu.source");
    pt_build_metric(b, gpu, "completeness_percent", NULL, PT_SHOW_PERCENT, stage, "gpu.completeness_percent");
    pt_build_metric(b, gpu, "reason", NULL, PT_SHOW_TEXT, stage, "gpu.reason");
    if (pt_metrics_has(&b->profile->metrics, pt_scope_stage(stage), "gpu.not_seen_s")) {
        pt_build_metric(b, gpu, "lost_records", NULL, PT_SHOW_COUNT, stage, "gpu.lost.records");
        pt_build_metric(b, gpu, "not_seen_s", NULL, PT_SHOW_SECONDS, stage, "gpu.not_seen_s");
    }
    const struct pt_table *devices = table_of(b, stage, "gpu.devices");
    struct pt_node *list = pt_doc_list(b->doc, gpu, "devices", NULL, PT_LAYOUT_TABLE);
    for (size_t row = 0; devices && row < devices->n_rows; row++)
        add_device(b, list, stage, devices, row);
    for (size_t i = 0; i < N_TABLES; i++) {
        const struct pt_table *table = table_of(b, stage, tables[i].name);
        if (table && !tables[i].is_of_device)
            pt_doc_table(b->doc, gpu, tables[i].key, NULL, table, MOST_ROWS);
    }
    pt_build_gpu_memory(b, gpu, stage);
}

/* ---- for people ---- */

static const char *titled(char *buffer, size_t room, const struct pt_build *b, const char *label, pt_u32 stage)
{
    if (b->profile->stages.n < 2)
        return label;
    snprintf(buffer, room, "%s: %s", b->profile->stages.items[stage].name, label);
    return buffer;
}

static void add_head(const struct pt_build *b, pt_u32 stage, const char *label)
{
    static const struct {
        const char *key, *label, *metric;
        enum pt_show show;
    } lines[] = {
        {"source", "Seen by", "gpu.source", PT_SHOW_TEXT},
        {"completeness_percent", "Complete", "gpu.completeness_percent", PT_SHOW_PERCENT},
        {"busy_percent", "Busy, first to last work", "gpu.busy_percent", PT_SHOW_PERCENT},
        {"idle_s", "Idle in between", "gpu.idle_s", PT_SHOW_SECONDS},
        {"idle_mostly", "Mostly because of", "gpu.idle.top_cause", PT_SHOW_TEXT},
        {"idle_where", "There", "gpu.idle.top_where", PT_SHOW_TEXT},
        {"overlap_percent", "Copies beside kernels", "gpu.copies.overlap_percent", PT_SHOW_PERCENT},
        {"memory_peak_percent", "Memory peak", "gpu.memory.peak_percent", PT_SHOW_PERCENT},
        {"reason", "Not known", "gpu.reason", PT_SHOW_TEXT},
    };
    struct pt_node *group = pt_doc_group(b->doc, b->doc->root, "gpu_summary", label, PT_LAYOUT_LINES);
    group->people_only = true;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct pt_value value = pt_metrics_get(&b->profile->metrics, pt_scope_stage(stage), lines[i].metric);
        if (value.type != PT_VALUE_UNKNOWN)
            pt_doc_value(b->doc, group, lines[i].key, lines[i].label, lines[i].show, value);
    }
}

/* A bar per device: busy, then why it was idle; drawn like the time account. */
enum { MOST_PARTS = PT_PART__COUNT - 2 }; /* busy, these, others: colours of the time account */

static void add_bar(const struct pt_build *b, struct pt_node *list, pt_u32 stage, const struct pt_table *devices,
                    size_t row)
{
    char name[300];
    const struct pt_table *causes = table_of(b, stage, "gpu.idle_causes");
    const double id = pt_value_number(cell(devices, row, "id"));
    struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
    char buffer[256];
    snprintf(name, sizeof name, "%s %.0f", titled(buffer, sizeof buffer, b, "GPU", stage), id);
    pt_doc_value(b->doc, item, "stage", NULL, PT_SHOW_TEXT, pt_text(name));
    struct pt_node *time = pt_doc_group(b->doc, item, "time", NULL, PT_LAYOUT_LINES);
    pt_doc_value(b->doc, time, "wall_s", "Window", PT_SHOW_SECONDS, cell(devices, row, "window_s"));
    pt_doc_value(b->doc, time, "busy_s", "Busy", PT_SHOW_SECONDS, cell(devices, row, "busy_s"));
    double rest_s = 0;
    pt_u32 n = 0;
    for (size_t i = 0; causes && i < causes->n_rows; i++) {
        if (pt_value_number(cell(causes, i, "device")) != id)
            continue;
        if (n++ < MOST_PARTS)
            pt_doc_value(b->doc, time, "cause", cell(causes, i, "cause").text, PT_SHOW_SECONDS,
                         cell(causes, i, "seconds"));
        else
            rest_s += pt_value_number(cell(causes, i, "seconds"));
    }
    for (; n < MOST_PARTS; n++)
        pt_doc_value(b->doc, time, "none", "None", PT_SHOW_SECONDS, pt_real(0));
    pt_doc_value(b->doc, time, "others", "Other causes", PT_SHOW_SECONDS, pt_real(rest_s));
    pt_doc_value(b->doc, item, "duration_s", NULL, PT_SHOW_SECONDS, cell(devices, row, "window_s"));
}

/* Only the page draws them. */
void pt_build_gpu_bars(const struct pt_build *b)
{
    struct pt_node *list = NULL;
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++) {
        const struct pt_table *devices = pt_build_wants_stage(b, stage) ? table_of(b, stage, "gpu.devices") : NULL;
        for (size_t row = 0; devices && row < devices->n_rows; row++) {
            if (!list) {
                list = pt_doc_list(b->doc, b->doc->root, "gpu_bars", NULL, PT_LAYOUT_TABLE);
                list->people_only = true;
            }
            add_bar(b, list, stage, devices, row);
        }
    }
}

void pt_build_gpu_details(const struct pt_build *b, pt_u32 stage)
{
    char label[256], key[64];
    if (!uses_gpu(b, stage))
        return;
    add_head(b, stage, titled(label, sizeof label, b, "GPU", stage));
    for (size_t i = 0; i < N_TABLES; i++) {
        const struct pt_table *table = table_of(b, stage, tables[i].name);
        if (!table)
            continue;
        snprintf(key, sizeof key, "%s%s", tables[i].is_of_device ? "" : "gpu_", tables[i].key);
        struct pt_node *list = pt_doc_table(
            b->doc, b->doc->root, key, titled(label, sizeof label, b, tables[i].label, stage), table, b->options->top);
        list->people_only = true;
        list->is_detail = true;
    }
}
