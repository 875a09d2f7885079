/* SPDX-License-Identifier: MIT
 *
 * Owns: the array "processes". Threads: any. Never: takes a count from events where an exact total exists.
 */
#include "process.h"

#include <stdlib.h>

#include "proftrace/events.h"
#include "facts/call_class.h"
#include "model/layers.h"
#include "profile/views.h"
#include "model/window.h"
#include "report/outcome.h"
#include "report/untraced.h"
#include "value.h"

static const char cut_short[] = "the trace file is cut short: its counters are missing";

static void put_heap(const struct pt_report_json *r, const struct pt_process *process)
{
    const struct pt_metrics *metrics = &r->profile->metrics;
    const struct pt_scope scope = pt_scope_process(process->index);
    const char *why = pt_process_why_no_heap(process);
    const struct pt_value unknown = pt_unknown(why);
    pt_json_object(r->json, "heap");
    pt_json_value(r->json, "allocs", PT_SHOW_COUNT, why ? unknown : pt_integer(process->heap->allocs));
    pt_json_value(r->json, "frees", PT_SHOW_COUNT, why ? unknown : pt_integer(process->heap->frees));
    pt_json_value(r->json, "bytes", PT_SHOW_BYTES, why ? unknown : pt_integer(process->heap->bytes));
    pt_json_value(r->json, "live_bytes_peak", PT_SHOW_BYTES, pt_metrics_get(metrics, scope, "heap.live_peak.bytes"));
    if (pt_metrics_has(metrics, scope, "heap.live_peak.phase"))
        pt_json_value(r->json, "live_peak_phase", PT_SHOW_TEXT, pt_metrics_get(metrics, scope, "heap.live_peak.phase"));
    if (pt_metrics_has(metrics, scope, "heap.live_peak_low.bytes")) {
        pt_json_array(r->json, "live_bytes_peak_interval");
        pt_json_value(r->json, NULL, PT_SHOW_BYTES, pt_metrics_get(metrics, scope, "heap.live_peak_low.bytes"));
        pt_json_value(r->json, NULL, PT_SHOW_BYTES, pt_metrics_get(metrics, scope, "heap.live_peak_high.bytes"));
        pt_json_end(r->json);
    }
    pt_json_end(r->json);
}

struct io_calls {
    const char *key;
    struct pt_kind_totals totals;
    bool has_bytes;
    enum pt_layer layer;
};

static void put_calls(const struct pt_report_json *r, const struct pt_process *process, const struct io_calls *of)
{
    const char *why = pt_process_why_no_layers(process, 1u << of->layer); /* not recorded is not 0 */
    const struct pt_value unknown = pt_unknown(why);
    pt_json_object(r->json, of->key);
    pt_json_value(r->json, "calls", PT_SHOW_COUNT, why ? unknown : pt_integer(of->totals.calls));
    if (of->has_bytes)
        pt_json_value(r->json, "bytes", PT_SHOW_BYTES, why ? unknown : pt_integer(of->totals.bytes));
    pt_json_value(r->json, "errors", PT_SHOW_COUNT, why ? unknown : pt_integer(of->totals.errors));
    pt_json_value(r->json, "seconds", PT_SHOW_SECONDS, why ? unknown : pt_seconds((pt_i64)of->totals.ns));
    pt_json_end(r->json);
}

static void put_io(const struct pt_report_json *r, const struct pt_process *process)
{
    if (pt_process_lacks_counters(process)) {
        pt_json_value(r->json, "io", PT_SHOW_COUNT, pt_unknown(cut_short));
        return;
    }
    const struct pt_totals_by_kind *totals = process->totals;
    const struct io_calls all[] = {
        {"open", *pt_totals_of(totals, PT_KIND_io_open), false, PT_LAYER_IO},
        {"read", pt_call_class_sum(totals, PT_CALL_READ), true, PT_LAYER_IO},
        {"write", pt_call_class_sum(totals, PT_CALL_WRITE), true, PT_LAYER_IO},
        {"copy", pt_call_class_sum(totals, PT_CALL_COPY), true, PT_LAYER_IO},
        {"stat", *pt_totals_of(totals, PT_KIND_meta_stat), false, PT_LAYER_IO},
        {"stdio_read", *pt_totals_of(totals, PT_KIND_stdio_read), true, PT_LAYER_STDIO},
        {"stdio_write", *pt_totals_of(totals, PT_KIND_stdio_write), true, PT_LAYER_STDIO},
    };
    pt_json_object(r->json, "io");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].key, "copy") != 0 || all[i].totals.calls) /* few programs make such calls */
            put_calls(r, process, &all[i]);
    pt_json_end(r->json);
}

static void put_events(const struct pt_report_json *r, const struct pt_process *process)
{
    static const char *const names[] = {
#define DROP(name, doc) #name,
#include "proftrace/drops.def"
#undef DROP
    };
    const struct pt_quality *quality = &process->quality;
    pt_json_object(r->json, "events");
    pt_json_value(r->json, "recorded", PT_SHOW_COUNT, pt_integer(quality->events));
    pt_json_value(r->json, "overwritten", PT_SHOW_COUNT, pt_report_lost(process->session, quality->overwritten));
    pt_json_value(r->json, "dropped", PT_SHOW_COUNT, pt_report_lost(process->session, quality->dropped));
    pt_json_value(r->json, "corrupt", PT_SHOW_COUNT, pt_report_lost(process->session, quality->corrupt_events));
    pt_json_object(r->json, "drop_reasons");
    for (int i = 0; i < PT_DROP__COUNT && !pt_session_is_window(process->session); i++)
        if (quality->drops[i])
            pt_json_value(r->json, names[i], PT_SHOW_COUNT, pt_integer(quality->drops[i]));
    pt_json_end(r->json);
    pt_json_end(r->json);
}

/* Only its bounds are known: it lived so long at least. */
static void put_duration_interval(struct pt_json *json, const struct pt_process *process, struct pt_value least)
{
    if (!pt_process_end_is_open(process))
        return;
    const double most_s = pt_value_number(least) + (double)(process->gone_ns - process->alive_ns) / 1e9;
    pt_json_array(json, "duration_s_interval");
    pt_json_value(json, NULL, PT_SHOW_SECONDS, least);
    if (process->gone_ns == PT_NEVER_NS)
        pt_json_null(json, NULL);
    else
        pt_json_value(json, NULL, PT_SHOW_SECONDS, pt_real(most_s));
    pt_json_end(json);
}

static void put_process(const struct pt_report_json *r, const struct pt_process *process)
{
    struct pt_json *json = r->json;
    const struct pt_metrics *metrics = &r->profile->metrics;
    const struct pt_scope scope = pt_scope_process(process->index);
    const pt_u32 stage = pt_profile_stage_of(r->profile, process);
    pt_json_object(json, NULL);
    pt_json_value(json, "pid", PT_SHOW_NUMBER, pt_integer(process->pid));
    pt_json_value(json, "ppid", PT_SHOW_NUMBER, pt_integer(process->ppid));
    pt_json_text(json, "host", process->host);
    pt_json_text(json, "stage", r->profile->stages.items[stage].name);
    pt_json_text(json, "exe", process->exe);
    pt_json_words(json, "argv", pt_masked_arguments((const char *const *)process->argv, process->argc, r->arena));
    pt_json_value(json, "start_s", PT_SHOW_SECONDS, pt_seconds(process->start_ns));
    const struct pt_value lived = pt_metrics_get(metrics, scope, "process.lived_s");
    pt_json_value(json, "duration_s", PT_SHOW_SECONDS, lived);
    put_duration_interval(json, process, lived);
    pt_json_value(json, "cpu_s", PT_SHOW_SECONDS, pt_metrics_get(metrics, scope, "process.cpu_s"));
    pt_json_value(json, "rss_mb_max", PT_SHOW_MIB,
                  process->max_rss_bytes ? pt_real((double)process->max_rss_bytes / (1024.0 * 1024.0))
                                         : pt_unknown("not noted, or never more than what it was started from had"));
    pt_json_value(json, "exit", PT_SHOW_TEXT, pt_report_process_exit(process, r->arena));
    pt_json_bool(json, "traced", true);
    pt_json_null(json, "untraced_reason");
    put_heap(r, process);
    put_io(r, process);
    put_events(r, process);
    pt_json_end(json);
}

static void put_untraced(const struct pt_report_json *r, const struct pt_untraced_program *program)
{
    static const char *const unknown_keys[] = {"start_s", "duration_s", "rss_mb_max", "exit"};
    static const char *const unknown_parts[] = {"heap", "io", "events"};
    const struct pt_value unknown = pt_unknown("the process was not traced");
    struct pt_json *json = r->json;
    pt_json_object(json, NULL);
    pt_json_value(json, "pid", PT_SHOW_NUMBER, unknown);
    pt_json_value(json, "ppid", PT_SHOW_NUMBER, program->parent ? pt_integer(program->parent->pid) : unknown);
    pt_json_text(json, "host", program->parent ? program->parent->host : NULL);
    pt_json_text(json, "stage", program->stage);
    pt_json_text(json, "exe", program->path);
    pt_json_words(json, "argv", (const char *const[]){NULL});
    for (size_t i = 0; i < sizeof unknown_keys / sizeof *unknown_keys; i++)
        pt_json_value(json, unknown_keys[i], PT_SHOW_TEXT, unknown);
    pt_json_bool(json, "traced", false);
    pt_json_text(json, "untraced_reason", program->reason ? program->reason : "unknown");
    pt_json_value(json, "times", PT_SHOW_COUNT, pt_integer(program->times));
    for (size_t i = 0; i < sizeof unknown_parts / sizeof *unknown_parts; i++)
        pt_json_value(json, unknown_parts[i], PT_SHOW_TEXT, unknown);
    pt_json_end(json);
}

void pt_json_processes(const struct pt_report_json *r)
{
    const struct pt_session *session = r->profile->session;
    struct pt_untraced_list programs = {0};
    pt_json_array(r->json, "processes");
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (pt_report_json_wants(r, pt_profile_stage_of(r->profile, session->processes[i])))
            put_process(r, session->processes[i]);
    pt_untraced_list(r->profile->session, r->profile->run, r->stage, &programs);
    for (size_t i = 0; i < programs.n; i++)
        put_untraced(r, &programs.items[i]);
    pt_json_end(r->json);
    free(programs.items);
}
