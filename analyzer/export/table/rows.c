/* SPDX-License-Identifier: MIT
 *
 * rows.c - Owns: what the rows of each table say. One thread. Never: takes a count from events where an exact total
 * exists, holds a number that a report has otherwise. */
#include "rows.h"

#include "proftrace/events.h"
#include "export/judged.h"
#include "export/selection.h"
#include "export/timeline/event_text.h"
#include "facts/call_class.h"
#include "report/outcome.h"

static void put_run(const struct pt_tabular_writer *writer, const struct pt_judged_run *judged)
{
    const struct pt_session *session = writer->session;
    pt_tabular_put(writer, run, .run = pt_text(session->name), .start_ns = pt_integer(session->start_realtime_ns),
                   .duration_s = pt_report_duration(&judged->profile), .events = pt_integer(session->quality.events),
                   .overwritten = pt_report_lost(session, session->quality.overwritten),
                   .dropped = pt_report_lost(session, session->quality.dropped));
}

static void put_stage(const struct pt_tabular_writer *writer, struct pt_judged_run *judged, pt_u32 stage)
{
    const struct pt_profile *profile = &judged->profile;
    const struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_tabular_put(writer, stages, .stage = pt_text(profile->stages.items[stage].name),
                   .status = pt_text(pt_report_stage_status(profile, stage, &judged->arena)),
                   .exit = pt_report_stage_exit(profile, stage, &judged->arena),
                   .duration_s = pt_report_stage_duration(profile, stage),
                   .cpu_s = pt_metrics_get(metrics, scope, "cpu.total_s"),
                   .cpu_percent_avg = pt_metrics_get(metrics, scope, "cpu.avg_percent"),
                   .rss_bytes_max = pt_metrics_get(metrics, scope, "rss.max_bytes"),
                   .gpu_percent_avg = pt_metrics_get(metrics, scope, "resource.gpu_util_percent.mean"));
}

static void put_time(const struct pt_tabular_writer *writer, const struct pt_judged_run *judged, pt_u32 stage)
{
    const struct pt_metrics *metrics = &judged->profile.metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct pt_value name = pt_text(judged->profile.stages.items[stage].name);
    pt_tabular_put(writer, time_account, .stage = name, .part = pt_text("wall_s"),
                   .seconds = pt_metrics_get(metrics, scope, "time.wall_s"));
    for (int part = 0; part < PT_PART__COUNT; part++)
        pt_tabular_put(writer, time_account, .stage = name, .part = pt_text(pt_time_parts[part].key),
                       .seconds = pt_metrics_get(metrics, scope, pt_time_parts[part].metric));
}

static void put_minutes(const struct pt_tabular_writer *writer, const struct pt_judged_run *judged, pt_u32 stage)
{
    const struct pt_table *table = pt_view_rows(&judged->profile.metrics, stage, PT_VIEW_minutes);
#define CELL(column) .column = pt_table_cell(table, row, #column)
    for (size_t row = 0; table && row < table->n_rows; row++)
        pt_tabular_put(writer, minutes, .stage = pt_text(judged->profile.stages.items[stage].name), CELL(at_s),
                       CELL(seconds), CELL(events), CELL(steps), CELL(calls), CELL(errors), CELL(read_bytes),
                       CELL(write_bytes), CELL(file_s), CELL(wait_s), CELL(network_bytes), CELL(network_s),
                       CELL(allocs), CELL(allocated_bytes), CELL(known_to_s));
#undef CELL
}

static struct pt_value heap_total(const struct pt_process *process, pt_u64 total)
{
    return pt_process_why_no_heap(process) ? pt_unknown(NULL) : pt_integer(total);
}

static void put_process(const struct pt_tabular_writer *writer, struct pt_judged_run *judged,
                        const struct pt_process *process, struct pt_value stage)
{
    const struct pt_metrics *metrics = &judged->profile.metrics;
    const struct pt_scope scope = pt_scope_process(process->index);
    pt_tabular_put(writer, processes, .process = pt_integer(process->number), .pid = pt_integer(process->pid),
                   .ppid = pt_integer(process->ppid), .host = pt_text(process->host), .stage = stage,
                   .exe = pt_text(process->exe), .exit = pt_report_process_exit(process, &judged->arena),
                   .start_ns = (struct pt_value){.type = PT_VALUE_INTEGER, .integer = process->start_ns},
                   .duration_s = pt_metrics_get(metrics, scope, "process.lived_s"),
                   .cpu_s = pt_metrics_get(metrics, scope, "process.cpu_s"),
                   .heap_allocs = heap_total(process, process->heap->allocs),
                   .heap_frees = heap_total(process, process->heap->frees),
                   .heap_bytes = heap_total(process, process->heap->bytes),
                   .heap_live_bytes_peak = pt_metrics_get(metrics, scope, "heap.live_peak.bytes"));
}

/* The key of report.json's io that a kind counts for; NULL = none. */
static const char *report_key(pt_u32 kind)
{
    if (kind == PT_KIND_io_open)
        return "open";
    if (kind == PT_KIND_meta_stat)
        return "stat";
    if (kind == PT_KIND_stdio_read)
        return "stdio_read";
    if (kind == PT_KIND_stdio_write)
        return "stdio_write";
    const enum pt_call_class class = pt_call_class_of(kind);
    return class == PT_CALL_READ ? "read" : class == PT_CALL_WRITE ? "write" : class == PT_CALL_COPY ? "copy" : NULL;
}

static void put_totals(const struct pt_tabular_writer *writer, const struct pt_process *process, struct pt_value stage)
{
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const struct pt_kind_totals *totals = pt_totals_of(process->totals, kind);
        const struct pt_event_desc *desc = &pt_event_descs[kind];
        if (!totals->calls || pt_process_lacks_counters(process))
            continue;
        pt_tabular_put(writer, totals, .process = pt_integer(process->number), .pid = pt_integer(process->pid),
                       .stage = stage, .category = pt_text(pt_category_name(desc->category)),
                       .kind = pt_text(desc->name), .call = pt_text(report_key(kind)),
                       .calls = pt_integer(totals->calls), .errors = pt_integer(totals->errors),
                       .bytes = desc->moves_bytes || totals->bytes ? pt_integer(totals->bytes) : pt_unknown(NULL),
                       .seconds = pt_call_is_timed(kind) ? pt_seconds((pt_i64)totals->ns) : pt_unknown(NULL));
    }
}

static void put_finding(const struct pt_tabular_writer *writer, const struct pt_judged_run *judged,
                        const struct pt_finding *finding)
{
    const struct pt_stage *stages = judged->profile.stages.items;
    pt_tabular_put(writer, findings, .rule = pt_text(finding->rule),
                   .severity = pt_text(finding->is_observation ? "observation" : pt_severity_name(finding->severity)),
                   .stage = finding->stage >= 0 ? pt_text(stages[finding->stage].name) : pt_unknown(NULL),
                   .title = pt_text(finding->title),
                   .gain_upper_s = pt_real(finding->is_observation ? finding->time_s : finding->gain_upper_s),
                   .confidence = pt_text(pt_confidence_name(finding->confidence)),
                   .place = pt_text(finding->place.text), .advice = pt_text(pt_finding_try(finding)));
}

/* With --pid, that of the process: an account of one process alone does not exist. */
static bool wants_stage(const struct pt_tabular_writer *writer, const struct pt_judged_run *judged, pt_u32 stage)
{
    const struct pt_filter *filter = &writer->options->filter;
    bool has_process = !filter->pid;
    for (pt_u32 i = 0; i < writer->session->n_processes && !has_process; i++)
        has_process =
            judged->profile.stages.of_process[i] == stage && writer->session->processes[i]->pid == filter->pid;
    return has_process && pt_judged_run_wants(judged, filter->stage, stage);
}

static void put_all(const struct pt_tabular_writer *writer, struct pt_judged_run *judged)
{
    const struct pt_filter *filter = &writer->options->filter;
    const struct pt_stages *stages = &judged->profile.stages;
    put_run(writer, judged);
    for (pt_u32 i = 0; i < stages->n; i++)
        if (wants_stage(writer, judged, i)) {
            put_stage(writer, judged, i);
            put_time(writer, judged, i);
            put_minutes(writer, judged, i);
        }
    for (pt_u32 i = 0; i < writer->session->n_processes; i++) {
        const struct pt_process *process = writer->session->processes[i];
        const struct pt_value stage = pt_text(stages->items[stages->of_process[i]].name);
        if (!pt_selects_process(filter, process))
            continue;
        put_process(writer, judged, process, stage);
        put_totals(writer, process, stage);
    }
    for (size_t i = 0; i < judged->findings.n; i++) {
        const struct pt_finding *finding = &judged->findings.items[i];
        if (finding->stage < 0 || wants_stage(writer, judged, (pt_u32)finding->stage))
            put_finding(writer, judged, finding);
    }
}

int pt_tabular_rows(const struct pt_tabular_writer *writer, struct pt_error *err)
{
    struct pt_judged_run judged = {0};
    const int result = pt_judged_run_open(&judged, writer->session, writer->options->since_ns, err);
    if (!result)
        put_all(writer, &judged);
    pt_judged_run_close(&judged);
    return result;
}
