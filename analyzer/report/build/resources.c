/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report says about the resources of each stage, beyond the summary's columns. Threads: one. Never: prints
 * 0 for what nobody measured.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "build.h"

enum what { MAX, MEAN, LAST, METRIC };

/* One value of a stage in JSON, and a column for people where it has a label. */
static const struct row {
    const char *key, *label;
    enum pt_show show;
    enum what what;
    const char *metric;
} rows[] = {
    {"cores_used_avg", "Cores", PT_SHOW_NUMBER, METRIC, "cpu.cores"},
    {"pss_bytes_max", "PSS Max", PT_SHOW_BYTES, MAX, "pss_bytes"},
    {"processes_max", NULL, PT_SHOW_COUNT, MAX, "processes"},
    {"threads_max", NULL, PT_SHOW_COUNT, MAX, "threads"},
    {"disk_read_bytes", "Disk Read", PT_SHOW_BYTES, LAST, "disk_read_bytes"},
    {"disk_write_bytes", "Disk Written", PT_SHOW_BYTES, LAST, "disk_write_bytes"},
    {"net_receive_bytes", "Received", PT_SHOW_BYTES, LAST, "net_receive_bytes"},
    {"net_send_bytes", "Sent", PT_SHOW_BYTES, LAST, "net_send_bytes"},
    {"net_loopback_bytes", "Loopback", PT_SHOW_BYTES, LAST, "net_loopback_bytes"},
    {"voluntary_switches", NULL, PT_SHOW_COUNT, LAST, "voluntary_switches"},
    {"involuntary_switches", "Preempted", PT_SHOW_COUNT, LAST, "involuntary_switches"},
    {"run_queue_s", "Run Queue", PT_SHOW_SECONDS, LAST, "run_queue_s"},
    {"machine_cpu_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "machine_cpu_percent"},
    {"machine_memory_percent_max", NULL, PT_SHOW_PERCENT, MAX, "machine_memory_percent"},
    {"disk_busy_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "disk_busy_percent"},
    {"cpu_pressure_percent_avg", "CPU Pressure", PT_SHOW_PERCENT, MEAN, "cpu_pressure_percent"},
    {"memory_pressure_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "memory_pressure_percent"},
    {"io_pressure_percent_avg", "I/O Pressure", PT_SHOW_PERCENT, MEAN, "io_pressure_percent"},
    {"gpu_util_percent_max", NULL, PT_SHOW_PERCENT, MAX, "gpu_util_percent"},
    {"gpu_power_w_avg", NULL, PT_SHOW_NUMBER, MEAN, "gpu_power_w"},
    {"gpu_power_w_max", NULL, PT_SHOW_NUMBER, MAX, "gpu_power_w"},
    {"gpu_temperature_c_max", NULL, PT_SHOW_NUMBER, MAX, "gpu_temperature_c"},
    {"gpu_throttled_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "gpu_throttled_percent"},
    {"gpu_power_cap_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "gpu_power_cap_percent"},
    {"gpu_hw_slowdown_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "gpu_hw_slowdown_percent"},
    {"gpu_sw_thermal_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "gpu_sw_thermal_percent"},
    {"gpu_hw_thermal_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "gpu_hw_thermal_percent"},
    {"gpu_power_brake_percent_avg", NULL, PT_SHOW_PERCENT, MEAN, "gpu_power_brake_percent"},
    {"gpu_energy_j", NULL, PT_SHOW_NUMBER, LAST, "gpu_energy_j"},
    {"cpu_temperature_c_max", NULL, PT_SHOW_NUMBER, MAX, "cpu_temperature_c"},
    {"cpu_energy_j", NULL, PT_SHOW_NUMBER, LAST, "cpu_energy_j"},
    {"energy_j", "Energy (J)", PT_SHOW_NUMBER, METRIC, "energy.total_j"},
    {"co2e_g", "CO2e (g)", PT_SHOW_NUMBER, METRIC, "energy.co2e_g"},
};

static struct pt_node *add_row(const struct pt_build *b, struct pt_node *parent, const struct row *row,
                               const char *label, pt_u32 stage)
{
    static const char *const suffix[] = {"max", "mean", "last"};
    char metric[80];
    if (row->what == METRIC)
        snprintf(metric, sizeof metric, "%s", row->metric);
    else
        snprintf(metric, sizeof metric, "resource.%s.%s", row->metric, suffix[row->what]);
    return pt_build_metric(b, parent, row->key, label, row->show, stage, metric);
}

static void add_left(const struct pt_build *b, struct pt_node *item, const struct pt_run_stage *run)
{
    struct pt_node *list = pt_doc_list(b->doc, item, "left_running", NULL, PT_LAYOUT_TABLE);
    for (pt_u32 i = 0; i < run->n_left; i++) {
        struct pt_node *one = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
        pt_doc_value(b->doc, one, "pid", "PID", PT_SHOW_COUNT, pt_real(run->left[i].pid));
        pt_doc_value(b->doc, one, "command", "Command", PT_SHOW_TEXT, pt_text(run->left[i].command));
    }
}

static struct pt_value log_value(const struct pt_build *b, const struct pt_run_stage *run)
{
    if (run->log)
        return pt_text(run->log);
    if (!b->profile->run->is_pipeline)
        return pt_unknown("the output of a single command is not kept");
    return pt_unknown(run->status && !strcmp(run->status, "skipped") ? "the stage was skipped" : "no log was opened");
}

void pt_build_resources(const struct pt_build *b, struct pt_node *item, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(b->profile, stage);
    if (!run)
        return;
    struct pt_node *group = pt_doc_group(b->doc, item, "resources", NULL, PT_LAYOUT_LINES);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_row(b, group, &rows[i], NULL, stage);
    pt_doc_value(b->doc, item, "log", NULL, PT_SHOW_TEXT, log_value(b, run));
    add_left(b, item, run);
}

/* ---- for people: the columns that anybody knows something about ---- */

static bool is_known_anywhere(const struct pt_build *b, const struct row *row)
{
    struct pt_doc *scratch = pt_doc_new();
    bool known = false;
    for (pt_u32 stage = 0; stage < b->profile->stages.n && !known; stage++) {
        const struct pt_build look = {b->profile, b->findings, b->options, scratch};
        known = add_row(&look, scratch->root, row, NULL, stage)->value.type != PT_VALUE_UNKNOWN;
    }
    pt_doc_free(scratch);
    return known;
}

/* Which reasons held the clocks of the GPUs back, and how much of the time. */
static struct pt_value throttle_value(const struct pt_build *b, pt_u32 stage, char *text, size_t size)
{
    static const enum pt_resource reasons[] = {
        PT_RESOURCE_gpu_power_cap_percent,  PT_RESOURCE_gpu_hw_slowdown_percent, PT_RESOURCE_gpu_sw_thermal_percent,
        PT_RESOURCE_gpu_hw_thermal_percent, PT_RESOURCE_gpu_power_brake_percent,
    };
    const struct pt_run_resource *all = b->profile->stages.items[stage].run->resources;
    size_t n = 0;
    text[0] = 0;
    if (isnan(all[PT_RESOURCE_gpu_throttled_percent].mean))
        return pt_unknown(all[PT_RESOURCE_gpu_throttled_percent].reason);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons && n < size; i++)
        if (all[reasons[i]].mean > 0)
            n += (size_t)snprintf(text + n, size - n, "%s%s %.0f %%", n ? ", " : "", pt_resources[reasons[i]].label,
                                  all[reasons[i]].mean);
    if (n)
        return pt_text(text);
    return pt_text(all[PT_RESOURCE_gpu_throttled_percent].mean > 0 ? "yes, nobody noted why" : "no");
}

static bool knows_throttling(const struct pt_build *b)
{
    for (pt_u32 i = 0; i < b->profile->stages.n; i++) {
        const struct pt_run_stage *run = b->profile->stages.items[i].run;
        if (run && !isnan(run->resources[PT_RESOURCE_gpu_throttled_percent].mean))
            return true;
    }
    return false;
}

void pt_build_resource_table(const struct pt_build *b)
{
    bool shown[sizeof rows / sizeof *rows];
    if (!b->profile->run)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        shown[i] = rows[i].label && is_known_anywhere(b, &rows[i]);
    const bool knows_gpus = knows_throttling(b);
    struct pt_node *list = pt_doc_list(b->doc, b->doc->root, "resources_shown", "Resources", PT_LAYOUT_TABLE);
    list->people_only = true;
    list->is_detail = true;
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++) {
        const struct pt_stage *one = &b->profile->stages.items[stage];
        if (!pt_build_wants_stage(b, stage) || !one->run || pt_stage_was_skipped(one))
            continue;
        struct pt_node *item = pt_doc_group(b->doc, list, NULL, NULL, PT_LAYOUT_LINES);
        pt_u32 column = 1;
        pt_doc_value(b->doc, item, "stage", "Stage", PT_SHOW_TEXT, pt_text(one->name))->column = column++;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (shown[i])
                add_row(b, item, &rows[i], rows[i].label, stage)->column = column++;
        char held_back[200];
        if (knows_gpus)
            pt_doc_value(b->doc, item, "gpu_throttled", "GPU Throttled", PT_SHOW_TEXT,
                         throttle_value(b, stage, held_back, sizeof held_back))
                ->column = column++;
    }
}
