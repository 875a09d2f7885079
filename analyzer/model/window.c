/* SPDX-License-Identifier: MIT
 *
 * Owns: the totals of a window, by the same rule as the library's: pt_totals_add; what was noted before it and holds
 * on. Threads: one, when a run is opened.
 * Never: takes a counter of a whole life for one of a window.
 */
#include "window.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "merge/feed.h"
#include "util/auto.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/text/fmt.h"
#include "notes.h"
#include "session_data.h"
#include "session_feed.h"
#include "threads.h"

const char pt_window_no_counters[] = "counted over the whole life of a process: not known of a window";

const char pt_window_no_losses[] = "events of the run were lost: which of them were of the window is not known";

/* ---- totals ---- */

struct sums {
    struct pt_totals of_kind[PT_KIND__COUNT];
    pt_u64 n_events;
};

/* By address of a thread or a process. */
struct summing {
    struct pt_map places; /* -> index in all, plus 1 */
    struct {
        PT_VEC(struct sums *);
    } all;
};

static struct sums *sums_of(struct summing *summing, const void *whose)
{
    uint64_t *place = pt_map_at(&summing->places, (pt_u64)(uintptr_t)whose);
    if (!*place) {
        pt_vec_push(&summing->all, pt_calloc(1, sizeof(struct sums)));
        *place = summing->all.n;
    }
    return summing->all.items[*place - 1];
}

static const struct pt_totals_by_kind *taken(const struct summing *summing, const void *whose, struct pt_arena *arena)
{
    const uint64_t *place = pt_map_find(&summing->places, (pt_u64)(uintptr_t)whose);
    struct pt_kind_totals totals[PT_KIND__COUNT];
    if (!place)
        return NULL;
    const struct sums *sums = summing->all.items[*place - 1];
    for (int kind = 0; kind < PT_KIND__COUNT; kind++) {
        const struct pt_totals *one = &sums->of_kind[kind];
        totals[kind] = (struct pt_kind_totals){one->calls, one->errors, one->bytes, one->ticks};
    }
    return pt_totals_keep(arena, totals);
}

static pt_u64 n_events(const struct summing *summing, const struct pt_process *process)
{
    const uint64_t *place = pt_map_find(&summing->places, (pt_u64)(uintptr_t)process);
    return place ? summing->all.items[*place - 1]->n_events : 0;
}

/* Heap events are in the trace, too, but say nothing without what came before. */
static int sum_up(struct pt_session *session, pt_i64 from_ns, struct summing *summing, struct pt_error *err)
{
    const struct pt_filter filter = {.from_ns = from_ns, .cuts = true};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filter, err);
    struct pt_event event;
    int got;
    if (!feed)
        return -1;
    while ((got = feed->next(feed, &event, err)) > 0) {
        const pt_u32 kind = event.desc->kind;
        const pt_u64 ns = (pt_u64)event.duration_ns;
        struct sums *of_process = sums_of(summing, event.process);
        of_process->n_events++;
        if (event.desc->category == PT_CATEGORY_HEAP)
            continue;
        pt_totals_add(&of_process->of_kind[kind], event.desc, event.payload, ns);
        if (event.thread)
            pt_totals_add(&sums_of(summing, event.thread)->of_kind[kind], event.desc, event.payload, ns);
    }
    return got;
}

/* ---- what was noted before and holds on ---- */

/* States of a process: more is damage. Of connections, and of starts, in all processes: as many as facts about
 * connections have. */
enum { MOST_STATES = 256, MOST_EARLIER = 65536 };

struct events {
    PT_VEC(struct pt_event);
};

struct before {
    struct events states, earlier, starts;
    struct pt_map places; /* what an earlier one or a start is about -> index in its list, plus 1 */
    size_t first;         /* in states, of the process that is looked at */
};

/* Of these kinds something holds on. */
static const pt_u16 kinds[] = {PT_KIND_gpu_device, PT_KIND_gpu_tracing, PT_KIND_net_connect, PT_KIND_net_accept,
                               PT_KIND_thread_start};

/* Each thread has a start, but only who joins others has to know theirs. */
static bool is_kept(const struct pt_process *process, pt_u32 kind)
{
    if (kind == PT_KIND_thread_start)
        return pt_totals_of(process->totals, PT_KIND_wait_thread)->calls > 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kind == kinds[i])
            return true;
    return false;
}

static pt_u64 n_kept(const struct pt_process *process, const struct pt_totals_by_kind *totals, pt_u32 *ret_categories)
{
    pt_u64 n = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const pt_u64 calls = is_kept(process, kinds[i]) ? pt_totals_of(totals, kinds[i])->calls : 0;
        *ret_categories |= calls ? (pt_u32)pt_event_descs[kinds[i]].category : 0;
        n += calls;
    }
    return n;
}

/* A later one about the same thing replaces it. */
static void keep_state(struct events *states, size_t first, const struct pt_event *event)
{
    const bool is_of_device = event->desc->kind == PT_KIND_gpu_device;
    for (size_t i = first; i < states->n; i++) {
        struct pt_event *known = &states->items[i];
        if (known->desc != event->desc || (is_of_device && known->tag != event->tag))
            continue;
        *known = known->start_ns <= event->start_ns ? *event : *known;
        return;
    }
    if (states->n - first < MOST_STATES)
        pt_vec_push(states, *event);
}

static pt_u64 subject_of(const struct pt_event *event)
{
    return event->desc->kind == PT_KIND_net_connect  ? pt_event_as(event, net_connect)->peer
           : event->desc->kind == PT_KIND_net_accept ? pt_event_as(event, net_accept)->peer
                                                     : pt_event_as(event, thread_start)->pthread;
}

/* Likewise: of each process the last connection to an address, or from it, and the last thread of a pthread_t. */
static void keep_earlier(struct before *before, const struct pt_event *event)
{
    const pt_u64 key = pt_hash_pair(subject_of(event), (pt_u64)event->process->index << 32 | (pt_u32)event->desc->kind);
    const uint64_t *known = pt_map_find(&before->places, key);
    struct events *list = event->desc->kind == PT_KIND_thread_start ? &before->starts : &before->earlier;
    if (known) {
        struct pt_event *last = &list->items[*known - 1];
        *last = last->start_ns <= event->start_ns ? *event : *last;
    } else if (list->n < MOST_EARLIER) {
        pt_vec_push(list, *event);
        *pt_map_at(&before->places, key) = list->n;
    }
}

/* They are few, and mostly among the first events of a thread: the others need not be read. A call that ends in the
 * window is an event of it. */
static int find_kept_of(struct pt_session *session, const struct pt_thread *thread, pt_i64 from_ns,
                        struct before *before, struct pt_error *err)
{
    struct pt_filter filter = {.until_ns = from_ns, .process = thread->process, .thread = thread, .as_stored = true};
    pt_u64 left = n_kept(thread->process, thread->totals, &filter.categories);
    if (!left)
        return 0;
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filter, err);
    struct pt_event event;
    int got = feed ? 0 : -1;
    while (feed && left && (got = feed->next(feed, &event, err)) > 0) {
        if (event.thread != thread || !is_kept(event.process, event.desc->kind))
            continue;
        left--;
        if (event.desc->category == PT_CATEGORY_GPU)
            keep_state(&before->states, before->first, &event);
        else if (pt_event_end_ns(&event) < from_ns)
            keep_earlier(before, &event);
    }
    return got < 0 ? -1 : 0;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_event *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->process->index != y->process->index ? (x->process->index < y->process->index ? -1 : 1) : 0;
}

static int find_before(struct pt_session *session, pt_i64 from_ns, struct before *before, struct pt_error *err)
{
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        pt_u32 categories = 0;
        before->first = before->states.n;
        for (pt_u32 j = 0; n_kept(process, process->totals, &categories) && j < process->n_threads; j++)
            if (find_kept_of(session, &process->threads[j], from_ns, before, err) < 0)
                return -1;
    }
    for (size_t i = 0; i < before->states.n; i++)
        before->states.items[i].start_ns = from_ns;
    if (before->earlier.n)
        qsort(before->earlier.items, before->earlier.n, sizeof *before->earlier.items, by_time);
    return 0;
}

/* ---- processes ---- */

static void drop_untraced(struct pt_process *process, pt_i64 from_ns)
{
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < process->n_untraced; i++)
        if (process->untraced[i].at_ns >= from_ns)
            process->untraced[n++] = process->untraced[i];
    process->n_untraced = n;
}

static void cut_process(struct pt_process *process, const struct summing *summing, pt_i64 from_ns)
{
    static const struct pt_heap_totals no_heap;
    struct pt_process_data *data = pt_process_data_of(process);
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        struct pt_thread *thread = &process->threads[i];
        thread->start_ns = thread->start_ns < from_ns ? from_ns : thread->start_ns;
        thread->end_ns = thread->end_ns < from_ns ? from_ns : thread->end_ns;
        thread->totals = taken(summing, thread, &data->arena);
        thread->heap_allocs = thread->heap_bytes = thread->heap_frees = 0;
    }
    if (process->start_ns < from_ns) {
        process->start_monotonic_ns += (pt_u64)(from_ns - process->start_ns);
        process->start_ns = from_ns;
    }
    process->life_totals = process->totals;
    process->totals = taken(summing, process, &data->arena);
    process->quality.events = n_events(summing, process);
    drop_untraced(process, from_ns);
    process->heap = &no_heap;
    process->heap_unknown = pt_window_no_counters;
    process->cpu_ns = process->max_rss_bytes = 0;
}

static bool has_ended(const struct pt_process *process, pt_i64 from_ns)
{
    return !process->is_running && process->end_ns < from_ns;
}

/* Those that had ended stay with the session, behind the others: they own what names of others may point to. */
static void drop_ended(struct pt_session *session, pt_i64 from_ns)
{
    struct pt_process **all = session->processes;
    struct pt_process **ended = pt_calloc(session->n_processes + 1, sizeof *ended);
    pt_u32 n = 0, n_ended = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (has_ended(all[i], from_ns))
            ended[n_ended++] = all[i];
        else
            all[n++] = all[i];
    memcpy(all + n, ended, n_ended * sizeof *all);
    free(ended);
    for (pt_u32 i = 0; i < n + n_ended; i++)
        all[i]->index = i;
    for (pt_u32 i = 0; i < n; i++) {
        if (all[i]->parent && all[i]->parent->index >= n)
            all[i]->parent = NULL;
        if (all[i]->previous_image && all[i]->previous_image->index >= n)
            all[i]->previous_image = NULL;
    }
    session->n_processes = n;
    session->n_before_window = n_ended;
}

static void add_notes(struct pt_session *session, pt_i64 from_ns)
{
    PT_AUTO(pt_freep)
    char *window = pt_asprintf("a window: the last %s, from %s after the start of the run on; %u processes had ended "
                               "before it",
                               pt_fmt_duration(session->duration_ns - from_ns).text, pt_fmt_duration(from_ns).text,
                               session->n_before_window);
    pt_session_note(session, window);
    if (session->quality.overwritten || session->quality.dropped || session->quality.corrupt_events)
        pt_session_note(session, "events of the run were lost, and which of them were of this window is not known: its "
                                 "counts are at least what is shown");
}

int pt_session_window(struct pt_session *session, pt_i64 from_ns, struct pt_error *err)
{
    struct summing summing = {0};
    if (from_ns <= 0)
        return 0; /* the run is not older than that */
    struct before before = {0};
    drop_ended(session, from_ns);
    const int found = find_before(session, from_ns, &before, err);
    const int summed = found < 0 ? found : sum_up(session, from_ns, &summing, err);
    session->window_from_ns = from_ns;
    session->states = before.states.items;
    session->n_states = (pt_u32)before.states.n;
    session->earlier = before.earlier.items;
    session->n_earlier = (pt_u32)before.earlier.n;
    session->earlier_starts = before.starts.items; /* they were found process by process */
    session->n_earlier_starts = (pt_u32)before.starts.n;
    pt_map_fini(&before.places);
    session->quality.events = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        cut_process(session->processes[i], &summing, from_ns);
        session->quality.events = pt_sum(session->quality.events, session->processes[i]->quality.events);
    }
    pt_map_fini(&summing.places);
    for (size_t i = 0; i < summing.all.n; i++)
        free(summing.all.items[i]);
    free(summing.all.items);
    add_notes(session, from_ns);
    return summed;
}
