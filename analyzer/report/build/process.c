/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report says about each process, and about how far the trace can be trusted. Threads: one. Never: takes a
 * count from events where an exact total exists.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/call_class.h"
#include "build.h"

const char *pt_build_exit_text(const struct pt_build *b, const struct pt_process *process)
{
    switch (process->state) {
    case PT_PROCESS_EXITED: {
        char text[32];
        snprintf(text, sizeof text, "exit %d", process->exit_status);
        return pt_arena_text(&b->doc->arena, text, strlen(text));
    }
    case PT_PROCESS_EXECED:
        return "exec";
    case PT_PROCESS_LIVE:
        return process->is_running ? "still running" : NULL;
    }
    return NULL;
}

static const char cut_short[] = "the trace file is cut short: its counters are missing";

static void add_heap(const struct pt_build *b, struct pt_node *item, const struct pt_process *process)
{
    const struct pt_metrics *metrics = &b->profile->metrics;
    const struct pt_scope scope = pt_scope_process(process->index);
    struct pt_doc *doc = b->doc;
    const char *why = process->heap_mode == PT_HEAP_OFF    ? "heap recording was off"
                      : pt_process_lacks_counters(process) ? cut_short
                                                           : NULL;
    const struct pt_value unknown = pt_unknown(why);
    struct pt_node *heap = pt_doc_group(doc, item, "heap", NULL, PT_LAYOUT_LINES);
    pt_doc_value(doc, heap, "allocs", NULL, PT_SHOW_COUNT, why ? unknown : pt_integer(process->heap.allocs));
    pt_doc_value(doc, heap, "frees", NULL, PT_SHOW_COUNT, why ? unknown : pt_integer(process->heap.frees));
    pt_doc_value(doc, heap, "bytes", NULL, PT_SHOW_BYTES, why ? unknown : pt_integer(process->heap.bytes));
    pt_doc_value(doc, heap, "live_bytes_peak", NULL, PT_SHOW_BYTES,
                 pt_metrics_get(metrics, scope, "heap.live_peak.bytes"));
    if (!pt_metrics_has(metrics, scope, "heap.live_peak_low.bytes"))
        return;
    struct pt_node *interval = pt_doc_list(doc, heap, "live_bytes_peak_interval", NULL, PT_LAYOUT_PLAIN);
    pt_doc_value(doc, interval, NULL, NULL, PT_SHOW_BYTES, pt_metrics_get(metrics, scope, "heap.live_peak_low.bytes"));
    pt_doc_value(doc, interval, NULL, NULL, PT_SHOW_BYTES, pt_metrics_get(metrics, scope, "heap.live_peak_high.bytes"));
}

static void add_transfer(const struct pt_build *b, struct pt_node *io, const char *key,
                         const struct pt_row_totals *totals, bool has_bytes)
{
    struct pt_node *group = pt_doc_group(b->doc, io, key, NULL, PT_LAYOUT_LINES);
    pt_doc_value(b->doc, group, "calls", NULL, PT_SHOW_COUNT, pt_integer(totals->calls));
    if (has_bytes)
        pt_doc_value(b->doc, group, "bytes", NULL, PT_SHOW_BYTES, pt_integer(totals->bytes));
    pt_doc_value(b->doc, group, "errors", NULL, PT_SHOW_COUNT, pt_integer(totals->errors));
    pt_doc_value(b->doc, group, "seconds", NULL, PT_SHOW_SECONDS, pt_seconds((pt_i64)totals->ns));
}

static void add_io(const struct pt_build *b, struct pt_node *item, const struct pt_process *process)
{
    if (pt_process_lacks_counters(process)) {
        pt_doc_value(b->doc, item, "io", NULL, PT_SHOW_COUNT, pt_unknown(cut_short));
        return;
    }
    struct pt_node *io = pt_doc_group(b->doc, item, "io", NULL, PT_LAYOUT_LINES);
    const struct pt_row_totals read = pt_call_class_sum(process->rows, PT_CALL_READ);
    const struct pt_row_totals write = pt_call_class_sum(process->rows, PT_CALL_WRITE);
    add_transfer(b, io, "open", &process->rows[PT_ROW_io_open], false);
    add_transfer(b, io, "read", &read, true);
    add_transfer(b, io, "write", &write, true);
    add_transfer(b, io, "stat", &process->rows[PT_ROW_meta_stat], false);
    add_transfer(b, io, "stdio_read", &process->rows[PT_ROW_stdio_read], true);
    add_transfer(b, io, "stdio_write", &process->rows[PT_ROW_stdio_write], true);
}

static void add_events(const struct pt_build *b, struct pt_node *item, const struct pt_quality *quality)
{
    static const char *const names[] = {
#define DROP(name, doc) #name,
#include "proftrace/drops.def"
#undef DROP
    };
    struct pt_node *events = pt_doc_group(b->doc, item, "events", NULL, PT_LAYOUT_LINES);
    pt_doc_value(b->doc, events, "recorded", NULL, PT_SHOW_COUNT, pt_integer(quality->events));
    pt_doc_value(b->doc, events, "overwritten", NULL, PT_SHOW_COUNT, pt_integer(quality->overwritten));
    pt_doc_value(b->doc, events, "dropped", NULL, PT_SHOW_COUNT, pt_integer(quality->dropped));
    pt_doc_value(b->doc, events, "corrupt", NULL, PT_SHOW_COUNT, pt_integer(quality->corrupt_events));
    struct pt_node *reasons = pt_doc_group(b->doc, events, "drop_reasons", NULL, PT_LAYOUT_LINES);
    for (int i = 0; i < PT_DROP__COUNT; i++)
        if (quality->drops[i])
            pt_doc_value(b->doc, reasons, names[i], NULL, PT_SHOW_COUNT, pt_integer(quality->drops[i]));
}

static void add_process(const struct pt_build *b, struct pt_node *list, const struct pt_process *process)
{
    struct pt_doc *doc = b->doc;
    struct pt_node *item = pt_doc_group(doc, list, NULL, NULL, PT_LAYOUT_LINES);
    const pt_u32 stage = pt_profile_stage_of(b->profile, process);
    const char *ended = pt_build_exit_text(b, process);
    pt_doc_value(doc, item, "pid", "Pid", PT_SHOW_NUMBER, pt_integer(process->pid))->column = 1;
    pt_doc_value(doc, item, "ppid", "Parent", PT_SHOW_NUMBER, pt_integer(process->ppid))->column = 8;
    pt_doc_value(doc, item, "host", NULL, PT_SHOW_TEXT, pt_text(process->host));
    pt_doc_value(doc, item, "stage", "Stage", PT_SHOW_TEXT, pt_text(b->profile->stages.items[stage].name))->column = 9;
    pt_doc_value(doc, item, "exe", "Program", PT_SHOW_TEXT, pt_text(process->exe))->column = 2;
    pt_build_arguments(b, item, "argv", (const char *const *)process->argv, process->argc);
    pt_doc_value(doc, item, "start_s", "Start", PT_SHOW_SECONDS, pt_seconds(process->start_ns))->column = 3;
    pt_doc_value(doc, item, "duration_s", "Duration", PT_SHOW_SECONDS, pt_seconds(process->end_ns - process->start_ns))
        ->column = 4;
    pt_doc_value(doc, item, "cpu_s", "CPU", PT_SHOW_SECONDS,
                 process->cpu_ns ? pt_seconds((pt_i64)process->cpu_ns) : pt_unknown("the process did not note it"))
        ->column = 5;
    pt_doc_value(doc, item, "rss_mb_max", NULL, PT_SHOW_MIB,
                 process->max_rss_bytes ? pt_real((double)process->max_rss_bytes / (1024.0 * 1024.0))
                                        : pt_unknown("not noted, or never more than what it was started from had"));
    pt_doc_value(doc, item, "exit", "End", PT_SHOW_TEXT,
                 ended ? pt_text(ended) : pt_unknown("no end was seen: killed, crashed or still running"))
        ->column = 7;
    pt_doc_value(doc, item, "traced", NULL, PT_SHOW_BOOL, pt_bool(true));
    pt_doc_value(doc, item, "untraced_reason", NULL, PT_SHOW_TEXT, pt_unknown(NULL));
    add_heap(b, item, process);
    struct pt_node *peak =
        pt_doc_value(doc, item, "heap_peak", "Heap peak", PT_SHOW_BYTES,
                     pt_metrics_get(&b->profile->metrics, pt_scope_process(process->index), "heap.live_peak.bytes"));
    peak->people_only = true;
    peak->column = 6;
    add_io(b, item, process);
    add_events(b, item, &process->quality);
}

/* ---- programs that were not traced ---- */

static bool is_listed(const struct pt_untraced_list *list, const char *path, const struct pt_process *parent)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].path, path) && (!parent || list->items[i].parent == parent))
            return true;
    return false;
}

void pt_build_untraced(const struct pt_build *b, struct pt_untraced_list *ret_list)
{
    const struct pt_profile *profile = b->profile;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (!pt_build_wants_stage(b, pt_profile_stage_of(profile, process)))
            continue;
        for (pt_u32 j = 0; j < process->n_untraced; j++) {
            const struct pt_untraced *one = &process->untraced[j];
            const char *path = one->path ? one->path : "unknown";
            pt_vec_push(ret_list, ((struct pt_untraced_program){path, one->reason, NULL, process}));
        }
    }
    for (pt_u32 i = 0; profile->run && i < profile->run->n_untraced; i++) {
        const struct pt_run_untraced *one = &profile->run->untraced[i];
        if (!is_listed(ret_list, one->path, NULL))
            pt_vec_push(ret_list, ((struct pt_untraced_program){one->path, one->reason, one->stage, NULL}));
    }
}

static void add_untraced(const struct pt_build *b, struct pt_node *list, const struct pt_untraced_program *program)
{
    static const char unknown[] = "the process was not traced";
    struct pt_doc *doc = b->doc;
    struct pt_node *item = pt_doc_group(doc, list, NULL, NULL, PT_LAYOUT_LINES);
    pt_doc_value(doc, item, "pid", NULL, PT_SHOW_NUMBER, pt_unknown(unknown));
    pt_doc_value(doc, item, "ppid", NULL, PT_SHOW_NUMBER,
                 program->parent ? pt_integer(program->parent->pid) : pt_unknown(unknown));
    pt_doc_value(doc, item, "host", NULL, PT_SHOW_TEXT, pt_text(program->parent ? program->parent->host : NULL));
    pt_doc_value(doc, item, "stage", NULL, PT_SHOW_TEXT,
                 program->parent
                     ? pt_text(b->profile->stages.items[pt_profile_stage_of(b->profile, program->parent)].name)
                     : pt_text(program->stage));
    pt_doc_value(doc, item, "exe", "Program", PT_SHOW_TEXT, pt_text(program->path))->column = 1;
    pt_doc_list(doc, item, "argv", NULL, PT_LAYOUT_PLAIN);
    pt_doc_value(doc, item, "start_s", NULL, PT_SHOW_SECONDS, pt_unknown(unknown));
    pt_doc_value(doc, item, "duration_s", NULL, PT_SHOW_SECONDS, pt_unknown(unknown));
    pt_doc_value(doc, item, "rss_mb_max", NULL, PT_SHOW_MIB, pt_unknown(unknown));
    pt_doc_value(doc, item, "exit", NULL, PT_SHOW_TEXT, pt_unknown(unknown));
    pt_doc_value(doc, item, "traced", NULL, PT_SHOW_BOOL, pt_bool(false));
    pt_doc_value(doc, item, "untraced_reason", "Why", PT_SHOW_TEXT,
                 pt_text(program->reason ? program->reason : "unknown"))
        ->column = 2;
    pt_doc_value(doc, item, "heap", NULL, PT_SHOW_COUNT, pt_unknown(unknown));
    pt_doc_value(doc, item, "io", NULL, PT_SHOW_COUNT, pt_unknown(unknown));
    pt_doc_value(doc, item, "events", NULL, PT_SHOW_COUNT, pt_unknown(unknown));
}

void pt_build_processes(const struct pt_build *b)
{
    const struct pt_session *session = b->profile->session;
    struct pt_node *all = pt_doc_list(b->doc, b->doc->root, "processes", NULL, PT_LAYOUT_TABLE);
    struct pt_node *shown = pt_doc_list(b->doc, b->doc->root, "processes_shown", "Processes", PT_LAYOUT_TABLE);
    struct pt_node *untraced = pt_doc_list(b->doc, b->doc->root, "untraced_shown", "Not traced", PT_LAYOUT_TABLE);
    struct pt_untraced_list programs = {0};
    size_t n = 0;
    shown->people_only = true;
    untraced->people_only = true;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        if (!pt_build_wants_stage(b, pt_profile_stage_of(b->profile, session->processes[i])))
            continue;
        add_process(b, all, session->processes[i]);
        if (n++ < b->options->top)
            add_process(b, shown, session->processes[i]);
        else
            shown->rows_left_out++;
    }
    pt_build_untraced(b, &programs);
    for (size_t i = 0; i < programs.n; i++) {
        add_untraced(b, all, &programs.items[i]);
        if (i < b->options->top)
            add_untraced(b, untraced, &programs.items[i]);
        else
            untraced->rows_left_out++;
    }
    shown->is_detail = true;
    free(programs.items);
}

/* ---- trace quality ---- */

static void add_notes(const struct pt_build *b, struct pt_node *group)
{
    const struct pt_profile *profile = b->profile;
    struct pt_node *notes = pt_doc_list(b->doc, group, "notes", "Notes", PT_LAYOUT_PLAIN);
    for (pt_u32 i = 0; i < profile->session->n_notes; i++)
        pt_doc_value(b->doc, notes, NULL, NULL, PT_SHOW_TEXT, pt_text(profile->session->notes[i]));
    for (pt_u32 i = 0; profile->run && profile->run->notes[i]; i++)
        pt_doc_value(b->doc, notes, NULL, NULL, PT_SHOW_TEXT, pt_text(profile->run->notes[i]));
    if (!profile->run)
        pt_doc_value(
            b->doc, notes, NULL, NULL, PT_SHOW_TEXT,
            pt_text("no run.json: the library was preloaded without the launcher; CPU time and memory are what "
                    "the processes noted themselves"));
}

void pt_build_trace_quality(const struct pt_build *b)
{
    const struct pt_session *session = b->profile->session;
    struct pt_untraced_list programs = {0};
    pt_build_untraced(b, &programs);
    struct pt_node *group = pt_doc_group(b->doc, b->doc->root, "trace_quality", "Trace quality", PT_LAYOUT_LINES);
    pt_doc_value(b->doc, group, "processes", "Processes", PT_SHOW_COUNT, pt_integer(session->n_processes));
    pt_doc_value(b->doc, group, "untraced", "Untraced", PT_SHOW_COUNT, pt_integer(programs.n));
    pt_doc_value(b->doc, group, "events", "Events", PT_SHOW_COUNT, pt_integer(session->quality.events));
    pt_doc_value(b->doc, group, "overwritten", "Overwritten", PT_SHOW_COUNT, pt_integer(session->quality.overwritten));
    pt_doc_value(b->doc, group, "dropped", "Dropped", PT_SHOW_COUNT, pt_integer(session->quality.dropped));
    pt_doc_value(b->doc, group, "corrupt", "Corrupt", PT_SHOW_COUNT, pt_integer(session->quality.corrupt_events));
    if (session->quality.cut_processes)
        pt_doc_value(b->doc, group, "cut_files", "Cut files", PT_SHOW_COUNT,
                     pt_integer(session->quality.cut_processes));
    add_notes(b, group);
    free(programs.items);
}
