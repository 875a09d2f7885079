/* SPDX-License-Identifier: MIT
 *
 * What the threads of a process that died by a signal did last: the last events of the thread that was seen last, and
 * of each thread its last event, its step and epoch, and what it was in the midst of.
 *
 * Threads: one. State: the last events of at most MAX_THREADS threads of at most MAX_PROCESSES dead processes. Never:
 * says which thread the signal hit, or which call was in progress: a call is recorded when it ends, so that of a thread
 * in a call only its silence is known.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "decode/field_value.h"
#include "decode/phase_names.h"
#include "decode/text.h"
#include "analysis/analysis.h"
#include "model/holes.h"
#include "profile/process_name.h"
#include "util/auto.h"
#include "bad_end.h"

enum { MAX_PROCESSES = 20, MAX_THREADS = 64, SHOWN_THREADS = 32, KEPT = 20, MAX_DEPTH = 16, MAX_ROWS = 200 };

struct last_thread {
    const struct pt_thread *thread; /* NULL = free */
    struct pt_event events[KEPT];
    pt_u64 n_events;
    pt_u32 depth; /* also counts what is deeper than MAX_DEPTH */
    const char *open[MAX_DEPTH];
    pt_i64 step, epoch; /* -1 = it noted none */
    pt_u32 holes;       /* that were passed */
    bool was_away;      /* it had been silent for longest, and what was known of it is forgotten */
};

enum { AWAY = 255 };

struct last_process {
    struct last_thread threads[MAX_THREADS];
    pt_u8 *place_of; /* of a thread of the process, plus 1; 0 = none, AWAY = not any more */
};

struct last_moments {
    struct last_process **of_process; /* NULL = not of interest */
    bool has_any;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct last_moments *moments = state;
    const struct pt_session *session = profile->session;
    moments->of_process = pt_calloc(session->n_processes, sizeof *moments->of_process);
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes && n < MAX_PROCESSES; i++) {
        if (!pt_process_ended_badly(profile, session->processes[i]))
            continue;
        moments->of_process[i] = pt_calloc(1, sizeof **moments->of_process);
        moments->of_process[i]->place_of = pt_calloc(session->processes[i]->n_threads + 1, 1);
        n++;
    }
    moments->has_any = n > 0;
}

/* ---- what each thread does ---- */

static const struct pt_event *last_of(const struct last_thread *thread)
{
    return &thread->events[(thread->n_events - 1) % KEPT];
}

/* A free one, or that of the thread that was silent for longest. */
static struct last_thread *place_for(struct last_process *process)
{
    struct last_thread *oldest = &process->threads[0];
    for (struct last_thread *at = oldest; at < process->threads + MAX_THREADS; at++) {
        if (!at->thread)
            return at;
        if (pt_event_end_ns(last_of(at)) < pt_event_end_ns(last_of(oldest)))
            oldest = at;
    }
    return oldest;
}

static struct last_thread *thread_of(struct last_process *process, const struct pt_event *e)
{
    pt_u8 *place = &process->place_of[e->thread->index];
    if (!*place || *place == AWAY) {
        struct last_thread *thread = place_for(process);
        if (thread->thread)
            process->place_of[thread->thread->index] = AWAY;
        *thread = (struct last_thread){.thread = e->thread, .step = -1, .epoch = -1, .was_away = *place == AWAY};
        *place = (pt_u8)(thread - process->threads + 1);
    }
    return &process->threads[*place - 1];
}

static void push(struct last_thread *thread, const char *name)
{
    if (thread->depth < MAX_DEPTH)
        thread->open[thread->depth] = name ? name : "?";
    thread->depth++;
}

static void follow(struct last_thread *thread, const struct pt_event *e)
{
    while (pt_thread_next_hole(e->thread, e->start_ns, &thread->holes))
        thread->depth = 0; /* what was open there may have ended since */
    switch (e->desc->kind) {
    case PT_KIND_range_begin:
        push(thread, pt_process_string(e->process, pt_event_as(e, range_begin)->name));
        break;
    case PT_KIND_phase_begin:
        push(thread, pt_phase_names[pt_phase_of_tag(e->tag)]);
        break;
    case PT_KIND_range_end:
    case PT_KIND_phase_end:
        thread->depth -= thread->depth > 0;
        break;
    case PT_KIND_step:
        thread->step = (pt_i64)pt_event_as(e, step)->number;
        break;
    case PT_KIND_epoch:
        thread->epoch = (pt_i64)pt_event_as(e, epoch)->number;
        break;
    default:
        break;
    }
}

static bool wants(const void *state, pt_u32 kind)
{
    (void)kind;
    return ((const struct last_moments *)state)->has_any;
}

static void event(void *state, const struct pt_event *e)
{
    struct last_process *process = ((struct last_moments *)state)->of_process[e->process->index];
    if (!process || e->thread->tid >= PT_DEVICE_TID)
        return;
    struct last_thread *thread = thread_of(process, e);
    thread->events[thread->n_events++ % KEPT] = *e;
    follow(thread, e);
}

/* ---- results ---- */

struct thread_row {
    const char *process, *last_event;
    pt_u32 pid, tid;
    bool seen_last;
    struct pt_value silent_s, step, epoch, within;
};

static const struct pt_column thread_columns[] = {
    PT_COLUMN(struct thread_row, process, TEXT, "Process"),
    PT_COLUMN(struct thread_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct thread_row, tid, NUMBER, "Thread"),
    PT_COLUMN(struct thread_row, seen_last, BOOL, "Seen last"),
    PT_COLUMN(struct thread_row, last_event, TEXT, "Last event"),
    PT_COLUMN(struct thread_row, silent_s, SECONDS, "Then none for"),
    PT_COLUMN(struct thread_row, epoch, NUMBER, "Epoch"),
    PT_COLUMN(struct thread_row, step, NUMBER, "Step"),
    PT_COLUMN(struct thread_row, within, TEXT, "Within"),
};
static const struct pt_table_kind by_thread = {PT_VIEW_last_threads, .most = MAX_ROWS, PT_COLUMNS(thread_columns)};

struct event_row {
    const char *process, *event;
    pt_u32 pid, tid;
    struct pt_value before_end_s, duration_s, fields;
};

static const struct pt_column event_columns[] = {
    PT_COLUMN(struct event_row, process, TEXT, "Process"),
    PT_COLUMN(struct event_row, pid, NUMBER, "PID"),
    PT_COLUMN(struct event_row, tid, NUMBER, "Thread"),
    PT_COLUMN(struct event_row, before_end_s, SECONDS, "Before the end"),
    PT_COLUMN(struct event_row, duration_s, SECONDS, "Took"),
    PT_COLUMN(struct event_row, event, TEXT, "Event"),
    PT_COLUMN(struct event_row, fields, TEXT, "Of"),
};
static const struct pt_table_kind by_event = {PT_VIEW_last_events, .most = MAX_ROWS, PT_COLUMNS(event_columns)};

static const char *string_of(void *context, pt_u32 id)
{
    return pt_process_string(context, id);
}

/* As dump shows them, without stacks: they are numbers. */
static void put_fields(struct pt_str *out, const struct pt_event *e)
{
    const struct pt_text_names names = {.context = e->process, .string = string_of};
    for (pt_u32 i = 0; i < e->desc->n_fields; i++) {
        const struct pt_field_desc *field = &e->desc->fields[i];
        if (field->unit == PT_UNIT_PAD || field->unit_class == PT_CLASS_STACK || pt_field_value(e, field).is_absent)
            continue;
        pt_str_printf(out, "%s%s=", out->n ? " " : "", field->name);
        pt_text_field(out, e, field, &names);
    }
}

static struct pt_value before_end(const struct pt_process *process, pt_i64 at_ns)
{
    if (pt_process_end_is_open(process))
        return pt_unknown("when it ended is not known");
    return pt_seconds(process->end_ns > at_ns ? process->end_ns - at_ns : 0);
}

static const char *const lost = "events that could say so are lost";
static const char *const forgotten = "it was silent for longer than 64 others";

static bool lacks_events(const struct last_thread *thread)
{
    return pt_quality_lacks_events(&thread->thread->process->quality);
}

/* What was open, from outside to inside. Where events are missing, an end may be among them. */
static struct pt_value within(struct pt_metrics *metrics, const struct last_thread *thread)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (lacks_events(thread))
        return pt_unknown(lost);
    if (thread->was_away)
        return pt_unknown(forgotten);
    for (pt_u32 i = 0; i < thread->depth && i < MAX_DEPTH; i++)
        pt_str_printf(&text, "%s%s", i ? " > " : "", thread->open[i]);
    return thread->depth ? pt_text(pt_metrics_text(metrics, pt_str_text(&text)))
                         : pt_unknown("no range or phase was open");
}

static struct pt_value number(const struct last_thread *thread, pt_i64 number)
{
    if (number < 0)
        return pt_unknown(lacks_events(thread) ? lost : thread->was_away ? forgotten : "the thread said none");
    return pt_integer((pt_u64)number);
}

/* The thread that was seen last, first. */
static int by_last_event(const void *a, const void *b)
{
    const struct last_thread *x = a, *y = b;
    if (!x->thread || !y->thread)
        return !x->thread - !y->thread;
    const pt_i64 x_ns = pt_event_end_ns(last_of(x)), y_ns = pt_event_end_ns(last_of(y));
    return x_ns != y_ns ? (x_ns < y_ns) - (x_ns > y_ns)
                        : (x->thread->index > y->thread->index) - (x->thread->index < y->thread->index);
}

static void add_threads(struct pt_profile *profile, struct pt_rows *rows, const struct pt_process *process,
                        const struct last_process *last)
{
    const struct last_thread *at = last->threads;
    for (; at < last->threads + SHOWN_THREADS && at->thread; at++)
        pt_rows_add(rows, &(struct thread_row){
                              .process = pt_process_name(profile, process),
                              .pid = process->pid,
                              .tid = at->thread->tid,
                              .seen_last = at == last->threads,
                              .last_event = last_of(at)->desc->name,
                              .silent_s = before_end(process, pt_event_end_ns(last_of(at))),
                              .step = number(at, at->step),
                              .epoch = number(at, at->epoch),
                              .within = within(&profile->metrics, at),
                          });
    for (; at < last->threads + MAX_THREADS && at->thread; at++)
        rows->table->rows_left_out++;
}

/* The last one first: where a table is cut, the old ones are left out. */
static void add_events(struct pt_profile *profile, struct pt_rows *rows, const struct pt_process *process,
                       const struct last_thread *thread)
{
    for (pt_u64 i = thread->n_events; i-- > 0 && i + KEPT >= thread->n_events;) {
        const struct pt_event *e = &thread->events[i % KEPT];
        PT_AUTO(pt_str_fini) struct pt_str fields = {0};
        put_fields(&fields, e);
        pt_rows_add(rows, &(struct event_row){
                              .process = pt_process_name(profile, process),
                              .pid = process->pid,
                              .tid = thread->thread->tid,
                              .before_end_s = before_end(process, pt_event_end_ns(e)),
                              .duration_s =
                                  e->desc->role == PT_ROLE_SPAN ? pt_seconds(e->duration_ns) : pt_unknown("an instant"),
                              .event = e->desc->name,
                              .fields = fields.n ? pt_text(pt_metrics_text(&profile->metrics, pt_str_text(&fields)))
                                                 : pt_unknown("it has none"),
                          });
    }
}

static void finish_stage(struct pt_profile *profile, const struct last_moments *moments, pt_u32 stage)
{
    const struct pt_session *session = profile->session;
    struct pt_rows threads = pt_rows(&profile->metrics, pt_scope_stage(stage), &by_thread);
    struct pt_rows events = pt_rows(&profile->metrics, pt_scope_stage(stage), &by_event);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct last_process *last = moments->of_process[i];
        if (!last || pt_profile_stage_of(profile, session->processes[i]) != stage)
            continue;
        qsort(last->threads, MAX_THREADS, sizeof *last->threads, by_last_event);
        add_threads(profile, &threads, session->processes[i], last);
        if (last->threads[0].thread)
            add_events(profile, &events, session->processes[i], &last->threads[0]);
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct last_moments *moments = state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(profile, moments, stage);
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        if (moments->of_process[i])
            free(moments->of_process[i]->place_of);
        free(moments->of_process[i]);
    }
    free(moments->of_process);
}

const struct pt_analysis pt_analysis_last_moments = {
    .name = "last_moments",
    .summary = "what the threads of processes that died did last",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_META | PT_CATEGORY_MAP | PT_CATEGORY_PROC |
                  PT_CATEGORY_WAIT | PT_CATEGORY_NET | PT_CATEGORY_CUDA | PT_CATEGORY_USER,
    .state_size = sizeof(struct last_moments),
    .begin = begin,
    .wants = wants,
    .event = event,
    .finish = finish,
};
