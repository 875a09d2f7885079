/* SPDX-License-Identifier: MIT
 *
 * otlp.c - a run as spans of OpenTelemetry: the run, its stages, their processes, and what these say of themselves:
 * epochs, steps, ranges, phases of a training, each below what it lies in.
 *
 * Events are read stage by stage, because a stage is a service.
 *
 * Owns: what is open on each thread. One thread. Never: cuts a span to a window: it would say what nobody measured.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "decode/phase_names.h"
#include "export/selection.h"
#include "merge/feed.h"
#include "model/holes.h"
#include "profile/ends.h"
#include "profile/open.h"
#include "report/outcome.h"
#include "run_file/read.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/whole.h"
#include "util/text/path.h"
#include "span.h"

enum { MAX_DEPTH = 64, MAX_OVERLAPPING = 1024, MAX_DEEPER = 1 << 16 };

/* Ids: the run is 1, stages follow; above these each process has room for its own spans. */
#define RUN_ID 1ull
#define PROCESS_BITS 36

struct open_span {
    pt_u64 id, parent; /* id 0 = none is open */
    const char *name, *detail;
    pt_i64 start_ns, number;
};

struct thread_spans {
    const struct pt_thread *thread;
    struct open_span epoch, step;
    struct open_span open[MAX_DEPTH];
    pt_u32 depth; /* also counts those deeper than MAX_DEPTH */
    struct {
        PT_VEC(pt_i64);
    } deeper_starts_ns; /* the first MAX_DEEPER of those: ranges that nobody ends are without end */
    pt_u64 n_counted;   /* of those behind them, as left out where they began */
    pt_u32 holes;       /* in its events, that were passed */
};

struct overlapping_span {
    pt_u64 id; /* the program's */
    const struct pt_thread *thread;
    struct open_span span;
};

struct export
{
    struct pt_otlp otlp;
    struct pt_profile profile; /* without analyses: outcomes need none */
    const struct pt_filter *filter;
    struct pt_window window;
    struct pt_export_summary *summary;
    struct pt_arena arena;
    struct pt_map threads; /* address -> struct thread_spans; of one stage */
    struct {
        PT_VEC(struct overlapping_span);
    } overlapping;
    pt_u64 *n_spans;        /* by process */
    pt_u64 above_processes; /* the stage that is being put; the run where it has no span */
};

static pt_u64 stage_id(pt_u32 stage)
{
    return RUN_ID + 1 + stage;
}

static pt_u64 process_id(const struct pt_process *process)
{
    return ((pt_u64)process->index + 1) << PROCESS_BITS;
}

static bool is_in_window(const struct export *export, pt_i64 start_ns, pt_i64 end_ns)
{
    return pt_window_clip(&export->window, &start_ns, &end_ns);
}

/* Whether it was. */
static bool put(struct export *export, const struct pt_otlp_span *span)
{
    if (!is_in_window(export, span->start_ns, span->end_ns))
        return false;
    pt_otlp_span(&export->otlp, span);
    export->summary->slices++;
    return true;
}

/* ---- what the program says of itself ---- */

static struct open_span opened(struct export *export, const struct pt_event *event, const char *name, pt_u64 parent)
{
    return (struct open_span){.id = process_id(event->process) + ++export->n_spans[event->process->index],
                              .parent = parent,
                              .name = name,
                              .start_ns = event->start_ns};
}

/* What is still open below a span that is not put belongs to the next one above it: nobody finds an id that no span
 * has.
 */
static void leave_out(struct export *export, const struct pt_thread *thread, const struct open_span *gone)
{
    struct thread_spans *spans = pt_map_pointer(&export->threads, (uintptr_t)thread);
    for (pt_u32 i = 0; spans && i < spans->depth && i < MAX_DEPTH; i++)
        if (spans->open[i].parent == gone->id)
            spans->open[i].parent = gone->parent;
    for (size_t i = 0; i < export->overlapping.n; i++)
        if (export->overlapping.items[i].span.parent == gone->id)
            export->overlapping.items[i].span.parent = gone->parent;
}

static void put_ended(struct export *export, const struct pt_thread *thread, struct open_span *open, pt_i64 end_ns,
                      bool is_guessed)
{
    struct pt_otlp_span span = {
        .id = open->id,
        .parent = open->parent,
        .name = open->name,
        .start_ns = open->start_ns,
        .end_ns = end_ns,
        .end_is_guessed = is_guessed,
        .keys = {open->detail ? "proftrace.detail" : NULL},
        .texts = {open->detail},
        .number_keys = {"process.pid", "thread.id", open->number >= 0 ? "proftrace.number" : NULL},
        .numbers = {thread->process->pid, thread->tid, open->number}};
    if (open->id && (end_ns - open->start_ns < export->filter->min_duration_ns || !put(export, &span)))
        leave_out(export, thread, open);
    open->id = 0;
}

static struct thread_spans *spans_of(struct export *export, const struct pt_event *event)
{
    pt_u64 *slot = pt_map_at(&export->threads, (uintptr_t)event->thread);
    if (!*slot) {
        struct thread_spans *spans = pt_calloc(1, sizeof *spans);
        spans->thread = event->thread;
        *slot = (uintptr_t)spans;
    }
    return (struct thread_spans *)(uintptr_t)*slot;
}

static pt_u64 innermost(const struct thread_spans *spans)
{
    const pt_u32 depth = spans->depth < MAX_DEPTH ? spans->depth : MAX_DEPTH;
    return depth             ? spans->open[depth - 1].id
           : spans->step.id  ? spans->step.id
           : spans->epoch.id ? spans->epoch.id
                             : process_id(spans->thread->process);
}

static void begin_range(struct export *export, struct thread_spans *spans, const struct pt_event *event,
                        const char *name, const char *detail)
{
    const struct open_span open = opened(export, event, name, innermost(spans));
    if (spans->depth < MAX_DEPTH) {
        spans->open[spans->depth] = open;
        spans->open[spans->depth].detail = detail;
        spans->open[spans->depth].number = -1;
    } else if (spans->deeper_starts_ns.n < MAX_DEEPER) {
        pt_vec_push(&spans->deeper_starts_ns, event->start_ns);
    } else if (event->start_ns <= export->window.until_ns) {
        export->summary->left_out++;
        spans->n_counted++;
    }
    spans->depth++;
}

/* It was counted where it began, which is not known: behind the last start that is kept. Of a made trace it may end
 * before it begins, and was not: more would be taken off than were counted. */
static void count_no_more(struct export *export, struct thread_spans *spans, pt_i64 end_ns)
{
    const pt_i64 longest_ns = end_ns - spans->deeper_starts_ns.items[spans->deeper_starts_ns.n - 1];
    const bool is_wanted = end_ns >= export->window.from_ns && longest_ns >= export->filter->min_duration_ns;
    if (end_ns > export->window.until_ns || is_wanted || !spans->n_counted)
        return;
    export->summary->left_out--;
    spans->n_counted--;
}

static void end_range(struct export *export, struct thread_spans *spans, pt_i64 end_ns, bool is_guessed)
{
    if (!spans->depth)
        return;
    if (--spans->depth < MAX_DEPTH) {
        put_ended(export, spans->thread, &spans->open[spans->depth], end_ns, is_guessed);
        return;
    }
    if (spans->depth - MAX_DEPTH >= spans->deeper_starts_ns.n) {
        count_no_more(export, spans, end_ns);
        return;
    }
    const pt_i64 start_ns = spans->deeper_starts_ns.items[--spans->deeper_starts_ns.n];
    export->summary->left_out +=
        end_ns - start_ns >= export->filter->min_duration_ns && is_in_window(export, start_ns, end_ns);
}

/* Only a beginning is told: it lasts until the next one. An epoch ends the step before it. */
static void begin_period(struct export *export, struct thread_spans *spans, const struct pt_event *event)
{
    const bool is_epoch = event->desc->kind == PT_KIND_epoch;
    const pt_u64 number = is_epoch ? pt_event_as(event, epoch)->number : pt_event_as(event, step)->number;
    struct open_span *period = is_epoch ? &spans->epoch : &spans->step;
    put_ended(export, spans->thread, &spans->step, event->start_ns, false);
    if (is_epoch)
        put_ended(export, spans->thread, period, event->start_ns, false);
    const pt_u64 parent = !is_epoch && spans->epoch.id ? spans->epoch.id : process_id(event->process);
    *period = opened(export, event, is_epoch ? "epoch" : "step", parent);
    period->number = (pt_i64)number;
}

static void begin_overlapping(struct export *export, struct thread_spans *spans, const struct pt_event *event)
{
    struct open_span open = opened(export, event, pt_process_string(event->process, event->aux), innermost(spans));
    open.number = -1;
    if (export->overlapping.n < MAX_OVERLAPPING)
        pt_vec_push(&export->overlapping,
                    ((struct overlapping_span){pt_event_as(event, range_open)->id, event->thread, open}));
    else
        export->summary->left_out += event->start_ns <= export->window.until_ns;
}

static void end_overlapping(struct export *export, const struct pt_event *event)
{
    const pt_u64 id = pt_event_as(event, range_close)->id;
    for (size_t i = export->overlapping.n; i--;) {
        struct overlapping_span *range = &export->overlapping.items[i];
        if (range->id != id || range->thread->process != event->process)
            continue;
        put_ended(export, range->thread, &range->span, event->start_ns, false);
        *range = export->overlapping.items[--export->overlapping.n];
        return;
    }
}

static const char *text_of(const struct pt_event *event, pt_u32 id)
{
    return id ? pt_process_string(event->process, id) : NULL;
}

static void end_open(struct export *export, struct thread_spans *spans, pt_i64 end_ns)
{
    while (spans->depth)
        end_range(export, spans, end_ns, true);
    put_ended(export, spans->thread, &spans->step, end_ns, true);
    put_ended(export, spans->thread, &spans->epoch, end_ns, true);
}

static void take_event(struct export *export, const struct pt_event *event)
{
    struct thread_spans *spans = spans_of(export, event);
    const struct pt_hole *hole;
    while ((hole = pt_thread_next_hole(event->thread, event->start_ns, &spans->holes)))
        end_open(export, spans, hole->from_ns);
    switch (event->desc->kind) {
    case PT_KIND_range_begin:
        begin_range(export, spans, event, text_of(event, pt_event_as(event, range_begin)->name), NULL);
        break;
    case PT_KIND_phase_begin:
        begin_range(export, spans, event, pt_phase_names[pt_phase_of_tag(event->tag)], text_of(event, event->aux));
        break;
    case PT_KIND_range_end:
    case PT_KIND_phase_end:
        end_range(export, spans, event->start_ns, false);
        break;
    case PT_KIND_range_open:
        begin_overlapping(export, spans, event);
        break;
    case PT_KIND_range_close:
        end_overlapping(export, event);
        break;
    case PT_KIND_step:
    case PT_KIND_epoch:
        begin_period(export, spans, event);
        break;
    default:
        break;
    }
}

static void end_threads(struct export *export)
{
    for (size_t i = 0; i < export->threads.n; i++) {
        struct thread_spans *spans = (struct thread_spans *)(uintptr_t) export->threads.entries[i].value;
        end_open(export, spans, spans->thread->end_ns);
    }
    /* After what they lie in: it may be left out. */
    for (size_t i = 0; i < export->overlapping.n; i++) {
        struct overlapping_span *range = &export->overlapping.items[i];
        put_ended(export, range->thread, &range->span, range->thread->process->end_ns, true);
    }
    export->overlapping.n = 0;
    for (size_t i = 0; i < export->threads.n; i++) {
        struct thread_spans *spans = (struct thread_spans *)(uintptr_t) export->threads.entries[i].value;
        free(spans->deeper_starts_ns.items);
        free(spans);
    }
    pt_map_fini(&export->threads);
    export->threads = (struct pt_map){0};
}

/* Those of one stage; steps and ranges need what came before the window. */
static int put_marks(struct export *export, const char *stage, struct pt_error *err)
{
    const struct pt_filter wanted = {.categories = PT_CATEGORY_USER, .pid = export->filter->pid, .stage = stage};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(export->profile.session, &wanted, err);
    struct pt_event event;
    int more = -1;
    while (feed && (more = feed->next(feed, &event, err)) > 0)
        take_event(export, &event);
    end_threads(export);
    return more;
}

/* ---- run, stages, processes ---- */

/* The nearest span above it: a parent may have ended before the window, and then nobody finds it. */
static pt_u64 above_process(const struct export *export, pt_u32 stage, const struct pt_process *process)
{
    const struct pt_process *parent = process->parent;
    for (; parent && export->profile.stages.of_process[parent->index] == stage; parent = parent->parent)
        if (pt_selects_process(export->filter, parent) && is_in_window(export, parent->start_ns, parent->end_ns))
            return process_id(parent);
    return export->above_processes;
}

static void put_process(struct export *export, pt_u32 stage, const struct pt_process *process)
{
    const struct pt_value exit = pt_report_process_exit(process, &export->arena);
    const char *const ended = exit.type == PT_VALUE_TEXT ? exit.text : NULL;
    put(export, &(struct pt_otlp_span){
                    .id = process_id(process),
                    .parent = above_process(export, stage, process),
                    .name = process->exe ? pt_base_name(process->exe) : process->comm,
                    .start_ns = process->start_ns,
                    .end_ns = process->end_ns,
                    .has_failed = pt_report_process_failed(process),
                    .failure = ended,
                    .keys = {"process.executable.path", "host.name", "proftrace.exit"},
                    .texts = {process->exe, process->host, ended},
                    .number_keys = {"process.pid", "process.parent_pid"},
                    .numbers = {process->pid, process->ppid},
                });
    export->summary->processes++;
    export->summary->tracks += process->n_threads;
}

static double ahead_ns(const struct export *export)
{
    return export->profile.run ? pt_run_clock_ahead_ns(export->profile.run, export->profile.session) : 0;
}

/* As the launcher measured it, else from its first process to the end of its last. False = nothing is known. */
static bool find_times(const struct export *export, const struct pt_stage *stage, pt_i64 *ret_start_ns,
                       pt_i64 *ret_end_ns)
{
    const struct pt_run_stage *run = stage->run;
    if (run && __builtin_isfinite(run->start_ns) && __builtin_isfinite(run->duration_ns)) {
        *ret_start_ns = pt_whole_signed(run->start_ns - ahead_ns(export));
        *ret_end_ns = *ret_start_ns + pt_whole_signed(run->duration_ns);
        return true;
    }
    *ret_start_ns = stage->start_ns;
    *ret_end_ns = stage->end_ns;
    return stage->n_processes > 0;
}

static void put_stage_span(struct export *export, pt_u32 stage)
{
    const char *status = pt_report_stage_status(&export->profile, stage, &export->arena);
    const struct pt_value reason = pt_report_stage_reason(&export->profile, stage, &export->arena);
    struct pt_otlp_span span = {.id = stage_id(stage),
                                .parent = RUN_ID,
                                .name = export->profile.stages.items[stage].name,
                                .has_failed = pt_status_is_bad(status),
                                .failure = reason.type == PT_VALUE_TEXT ? reason.text : NULL,
                                .keys = {"proftrace.status"},
                                .texts = {status}};
    pt_otlp_service(&export->otlp, span.name);
    const bool is_known = find_times(export, &export->profile.stages.items[stage], &span.start_ns, &span.end_ns);
    export->above_processes = is_known && put(export, &span) ? span.id : RUN_ID;
}

static int put_stage(struct export *export, pt_u32 stage, struct pt_error *err)
{
    const struct pt_stages *stages = &export->profile.stages;
    const struct pt_session *session = export->profile.session;
    const char *own_name = NULL; /* as its processes have it: of an unknown one it is empty */
    put_stage_span(export, stage);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (stages->of_process[i] == stage && pt_selects_process(export->filter, session->processes[i])) {
            own_name = session->processes[i]->stage;
            put_process(export, stage, session->processes[i]);
        }
    return own_name ? put_marks(export, own_name, err) : 0;
}

static int put_all(struct export *export, struct pt_error *err)
{
    const struct pt_session *session = export->profile.session;
    int result = 0;
    const pt_i64 start_ns = pt_whole_signed(-ahead_ns(export));
    pt_otlp_service(&export->otlp, NULL);
    put(export, &(struct pt_otlp_span){.id = RUN_ID,
                                       .name = session->name,
                                       .start_ns = start_ns,
                                       .end_ns = start_ns + pt_profile_wall_ns(&export->profile)});
    for (pt_u32 i = 0; !result && i < export->profile.stages.n; i++)
        if (!export->filter->stage || !strcmp(export->filter->stage, export->profile.stages.items[i].name))
            result = put_stage(export, i, err);
    return result;
}

int pt_export_otlp(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                   struct pt_export_summary *ret_summary, struct pt_error *err)
{
    PT_AUTO(pt_run_info_freep) struct pt_run_info *run = NULL;
    *ret_summary = (struct pt_export_summary){0};
    if (pt_run_info_read(session->path, &run, err) < 0)
        return -1;
    if (run)
        pt_run_find_running(run); /* else its stage ends where run.json was written, before its processes */
    struct export *export = pt_calloc(1, sizeof *export);
    *export = (struct export){.profile = {.session = session, .run = run},
                              .filter = &options->filter,
                              .window = pt_window_of(&options->filter),
                              .summary = ret_summary};
    export->n_spans = pt_calloc(session->n_processes ? session->n_processes : 1, sizeof *export->n_spans);
    pt_stages_build(&export->profile.stages, session, run);
    pt_otlp_open(&export->otlp, session, sink);
    const int result = put_all(export, err);
    pt_otlp_close(&export->otlp);
    pt_stages_free(&export->profile.stages);
    pt_arena_fini(&export->arena);
    free(export->overlapping.items);
    free(export->n_spans);
    free(export);
    return result;
}
