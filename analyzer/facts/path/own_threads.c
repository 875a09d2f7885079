/* SPDX-License-Identifier: MIT
 *
 * Owns: when the main thread of a process waits for which of its own threads. Threads: one, before the pass. Never:
 * takes a thread that only passes on what others did for one that works; reads the events of all threads of a process
 * whose main thread hardly waits.
 */
#include "own_threads.h"

#include <math.h>
#include <stdlib.h>

#include "facts/time_union.h"
#include "model/session_feed.h"
#include "util/auto.h"

#define LEAST_WAIT_NS 100000
#define LEAST_DATA_WAIT_NS 200000
/* Between two waits of a loop that asks again and again. */
#define CLOSE_NS 50000
/* Of the main thread's life, in all waits and in long ones; and how much of its own a thread that works has to do. */
#define LEAST_OF_LIFE 0.05
#define LEAST_LONG_OF_LIFE 0.02
#define LEAST_WORK 0.3
#define MOST_CONTENDED 0.2
/* Of the time in which it is waited for: what the other threads may do beside. */
#define MOST_BESIDE 0.1

enum { MOST_THREADS = 512, MOST_WINDOWS = 1 << 16 };

struct use {
    pt_i64 start_ns, end_ns;             /* of its life, as far as it is known before the pass */
    double waited_ns, slept_ns, data_ns; /* for other threads; of its own will; of the waits: for data */
    double window_ns, beside_ns;         /* it was waited for, and what others did meanwhile */
    double answers_ns;                   /* it waited for what others did meanwhile: not for locks */
    double contended_ns;                 /* it waited for locks that others held: they work side by side */
    bool meets_others;                   /* at a barrier: they share the work */
};

struct reader {
    const struct pt_facts *facts;
    const struct pt_process *process;
    const struct pt_thread *main_thread;
    struct pt_thread_ids ids; /* of pthread_t alone */
    struct pt_lock_queues queues;
    struct use *uses; /* by thread */
    struct pt_own_windows windows;
};

static double life_ns(const struct use *use)
{
    return (double)(use->end_ns - use->start_ns);
}

/* ---- whom it waits for ---- */

static void add_window(struct reader *reader, const struct pt_thread *thread, pt_i64 from_ns, pt_i64 until_ns)
{
    struct pt_own_windows *windows = &reader->windows;
    struct pt_own_window *last = windows->n ? &windows->items[windows->n - 1] : NULL;
    from_ns = last && last->until_ns > from_ns ? last->until_ns : from_ns;
    if (until_ns <= from_ns || thread == reader->main_thread || (thread && thread->process != reader->process))
        return;
    if (last && last->thread == thread && from_ns - last->until_ns <= CLOSE_NS)
        last->until_ns = until_ns;
    else if (windows->n < MOST_WINDOWS)
        pt_vec_push(windows, ((struct pt_own_window){.from_ns = from_ns, .until_ns = until_ns, .thread = thread}));
}

/* Who gave what it waited for, one after the other. NULL = nobody knows. */
static void add_shares(struct reader *reader, const struct pt_event *event, const struct pt_lock_share *shares,
                       pt_u32 n)
{
    const pt_i64 end_ns = pt_event_end_ns(event), middle_ns = event->start_ns + event->duration_ns / 2;
    for (pt_u32 i = 0; i < n; i++) {
        const bool is_last = i + 1 == n && shares[i].until_ns >= middle_ns;
        if (event->desc->kind != PT_KIND_lock_sem || !shares[i].takes_it)
            add_window(reader, shares[i].thread, shares[i].from_ns, is_last ? end_ns : shares[i].until_ns);
    }
    if (!n)
        add_window(reader, NULL, event->start_ns, end_ns);
}

static void joined(struct reader *reader, const struct pt_event *event)
{
    const struct pt_thread *thread = pt_thread_joined(&reader->ids, event);
    const pt_i64 end_ns = pt_event_end_ns(event);
    if (thread && event->result == 0 && reader->uses[thread->index].end_ns > end_ns)
        reader->uses[thread->index].end_ns = end_ns;
    if (event->thread == reader->main_thread && event->duration_ns >= LEAST_WAIT_NS)
        add_window(reader, thread, event->start_ns, end_ns);
}

/* `takes_it`: whoever had what it waited for takes it at times: a lock. */
static void add_wait(struct use *use, const struct pt_event *event, enum pt_time_part part, bool takes_it)
{
    const pt_u32 kind = event->desc->kind;
    const double ns = (double)event->duration_ns;
    use->meets_others |= kind == PT_KIND_lock_barrier;
    if (part == PT_PART_sleep)
        use->slept_ns += ns;
    if (part != PT_PART_lock && part != PT_PART_idle && part != PT_PART_data_wait)
        return;
    use->waited_ns += ns;
    if (part == PT_PART_lock && (kind == PT_KIND_lock_mutex || takes_it))
        use->contended_ns += ns;
    if (part == PT_PART_lock && (kind == PT_KIND_wait_thread || kind == PT_KIND_lock_cond))
        use->answers_ns += ns;
}

static void take_span(struct reader *reader, const struct pt_event *event)
{
    struct pt_lock_share shares[PT_LOCK_HANDOFFS];
    const enum pt_time_part part = pt_time_part_of_event(event);
    const pt_u32 n = pt_lock_queues_call(&reader->queues, event, shares);
    add_wait(&reader->uses[event->thread->index], event, part, n && shares[n - 1].takes_it);
    if (event->desc->kind == PT_KIND_wait_thread)
        joined(reader, event);
    else if (part == PT_PART_lock && event->thread == reader->main_thread && event->duration_ns >= LEAST_WAIT_NS &&
             (event->desc->kind == PT_KIND_lock_cond || event->desc->kind == PT_KIND_lock_sem))
        add_shares(reader, event, shares, n);
}

/* Reading from a pipe is a call as any other, by the totals. */
static void take_data_wait(struct reader *reader, const struct pt_event *event)
{
    const enum pt_time_part part = pt_time_part_of_event(event);
    struct use *use = &reader->uses[event->thread->index];
    const double ns = (double)event->duration_ns;
    use->data_ns += part == PT_PART_data_wait || part == PT_PART_idle ? ns : 0;
    use->answers_ns += part == PT_PART_data_wait || part == PT_PART_idle || part == PT_PART_network ? ns : 0;
}

/* In one go: to decode a process's events costs more than to look at them. */
static void read_waits(struct reader *reader)
{
    enum { WAITS = PT_CATEGORY_WAIT | PT_CATEGORY_PROC, DATA = PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_NET };
    struct pt_error err = {0};
    const struct pt_filter filter = {.categories = WAITS | DATA,
                                     .process = reader->process,
                                     .long_categories = DATA,
                                     .min_duration_ns = LEAST_DATA_WAIT_NS};
    PT_AUTO(pt_feed_closep)
    struct pt_feed *feed = pt_session_feed(reader->facts->profile->session, &filter, &err);
    struct pt_event event;
    while (feed && feed->next(feed, &event, &err) > 0) {
        const bool is_span = event.desc->role == PT_ROLE_SPAN;
        if (event.desc->category & DATA) {
            if (is_span)
                take_data_wait(reader, &event);
        } else if (is_span) {
            take_span(reader, &event);
        } else {
            pt_thread_ids_event(&reader->ids, &event);
            pt_lock_queues_point(&reader->queues, &event);
        }
    }
}

/* ---- what they do ---- */

static bool works(const struct use *use)
{
    return !use->meets_others && use->contended_ns <= MOST_CONTENDED * life_ns(use) &&
           life_ns(use) - use->waited_ns - use->data_ns >= LEAST_WORK * life_ns(use);
}

static bool is_call_for_files(enum pt_time_part part)
{
    return pt_part_is_of_files(part) || part == PT_PART_network;
}

/* A thread that is there to the end and sleeps watches the others. */
static bool is_monitor(const struct reader *reader, const struct use *use)
{
    return use->end_ns >= reader->windows.items[reader->windows.n - 1].until_ns;
}

/* On a CPU, in calls about files and the network, or asleep: a share of its life. */
static double busy_share(const struct reader *reader, const struct pt_thread *thread, bool is_monitor)
{
    const struct use *use = &reader->uses[thread->index];
    const struct pt_facts *facts = reader->facts;
    const struct pt_cpu_timeline *cpu = pt_facts_cpu(facts, pt_profile_stage_of(facts->profile, reader->process));
    const pt_u32 number = pt_facts_cpu_thread(facts, thread);
    const double slept_ns = is_monitor ? 0 : use->slept_ns;
    double most_ns = life_ns(use) - use->waited_ns - use->data_ns - use->slept_ns, known_ns = -use->data_ns;
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        known_ns += is_call_for_files(pt_time_part_of_kind(kind)) ? (double)pt_totals_of(thread->totals, kind)->ns : 0;
    if (number)
        most_ns = fmin(most_ns, fmax(known_ns, 0) + (double)cpu->data->times[number].on_cpu_ns);
    return life_ns(use) > 0 ? (fmax(most_ns, 0) + slept_ns) / life_ns(use) : 0;
}

static double common_ns(const struct use *use, const struct pt_own_window *window)
{
    return (double)pt_common_ns(use->start_ns, use->end_ns, window->from_ns, window->until_ns);
}

/* A wait of which nobody knows for whom it was: for the only thread that worked meanwhile. */
static void find_unknown(struct reader *reader)
{
    const struct pt_process *process = reader->process;
    for (size_t i = 0; i < reader->windows.n; i++) {
        struct pt_own_window *window = &reader->windows.items[i];
        pt_u32 n = 0;
        const struct pt_thread *found = NULL;
        for (pt_u32 j = 0; !window->thread && n < 2 && j < process->n_threads; j++) {
            if (&process->threads[j] == reader->main_thread || common_ns(&reader->uses[j], window) <= 0 ||
                !works(&reader->uses[j]))
                continue;
            found = &process->threads[j];
            n++;
        }
        window->thread = window->thread ? window->thread : n == 1 ? found : NULL;
    }
}

static void keep_those_that_work(struct reader *reader)
{
    size_t n = 0;
    for (size_t i = 0; i < reader->windows.n; i++) {
        const struct pt_own_window *window = &reader->windows.items[i];
        if (!window->thread || !works(&reader->uses[window->thread->index]))
            continue;
        reader->uses[window->thread->index].window_ns += (double)(window->until_ns - window->from_ns);
        reader->windows.items[n++] = *window;
    }
    reader->windows.n = n;
}

static void keep_those_alone(struct reader *reader)
{
    const struct pt_process *process = reader->process;
    for (pt_u32 j = 0; j < process->n_threads && reader->windows.n; j++) {
        const struct pt_thread *other = &process->threads[j];
        const struct use *use = &reader->uses[j];
        const double share = other == reader->main_thread ? 0 : busy_share(reader, other, is_monitor(reader, use));
        for (size_t i = 0; share > 0 && i < reader->windows.n; i++) {
            const struct pt_own_window *window = &reader->windows.items[i];
            if (window->thread != other)
                reader->uses[window->thread->index].beside_ns += share * common_ns(use, window);
        }
    }
    size_t n = 0;
    for (size_t i = 0; i < reader->windows.n; i++) {
        const struct use *use = &reader->uses[reader->windows.items[i].thread->index];
        if (use->beside_ns - use->answers_ns <= MOST_BESIDE * use->window_ns)
            reader->windows.items[n++] = reader->windows.items[i];
    }
    reader->windows.n = n;
}

/* ---- all of it ---- */

static bool may_be_for_thread(pt_u32 kind)
{
    return kind == PT_KIND_wait_thread || kind == PT_KIND_lock_cond || kind == PT_KIND_lock_sem;
}

static bool may_wait(const struct pt_process *process, const struct pt_thread *main_thread)
{
    const double life_ns = (double)(process->end_ns - process->start_ns);
    double waited_ns = 0;
    for (pt_u32 kind = 0; main_thread && kind < PT_KIND__COUNT; kind++)
        waited_ns += may_be_for_thread(kind) ? (double)pt_totals_of(main_thread->totals, kind)->ns : 0;
    return process->n_threads > 1 && process->n_threads <= MOST_THREADS && waited_ns > LEAST_OF_LIFE * life_ns;
}

/* Enough of its waits are long: those that are not may be many, and tell nothing. Where events are lost, it is by the
 * totals. */
static bool waits_long(const struct reader *reader)
{
    if (pt_quality_lacks_events(&reader->process->quality))
        return true;
    const struct pt_filter filter = {.categories = PT_CATEGORY_WAIT,
                                     .process = reader->process,
                                     .thread = reader->main_thread,
                                     .min_duration_ns = LEAST_WAIT_NS};
    const double life_ns = (double)(reader->process->end_ns - reader->process->start_ns);
    double waited_ns = 0;
    struct pt_error err = {0};
    PT_AUTO(pt_feed_closep)
    struct pt_feed *feed = pt_session_feed(reader->facts->profile->session, &filter, &err);
    struct pt_event event;
    while (feed && waited_ns <= LEAST_LONG_OF_LIFE * life_ns && feed->next(feed, &event, &err) > 0) {
        if (may_be_for_thread(event.desc->kind) && event.thread == reader->main_thread)
            waited_ns += (double)event.duration_ns;
    }
    return waited_ns > LEAST_LONG_OF_LIFE * life_ns;
}

struct pt_own_windows pt_own_windows_of(const struct pt_facts *facts, const struct pt_process *process)
{
    struct reader reader = {.facts = facts, .process = process, .main_thread = pt_main_thread(process)};
    if (!may_wait(process, reader.main_thread) || !waits_long(&reader))
        return reader.windows;
    pt_thread_ids_earlier_of(&reader.ids, process);
    reader.uses = pt_calloc(process->n_threads, sizeof *reader.uses);
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        const struct pt_thread_life life = pt_thread_life(facts, &process->threads[i]);
        reader.uses[i].start_ns = life.start_ns;
        /* What it did after its last full buffer is not known yet. */
        reader.uses[i].end_ns = life.is_exact ? life.end_ns : process->end_ns;
    }
    read_waits(&reader);
    if (reader.windows.n) {
        find_unknown(&reader);
        keep_those_that_work(&reader);
        keep_those_alone(&reader);
    }
    pt_map_fini(&reader.ids.by_pthread);
    pt_lock_queues_fini(&reader.queues);
    free(reader.uses);
    return reader.windows;
}

size_t pt_own_windows_after(const struct pt_own_windows *windows, pt_i64 at_ns)
{
    size_t low = 0, high = windows->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (windows->items[middle].until_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
