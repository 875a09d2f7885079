/* SPDX-License-Identifier: MIT
 *
 * Owns: the totals of a window, by the same rule as the library's: pt_totals_add. Threads: one, when a run is opened.
 * Never: takes a counter of a whole life for one of a window.
 */
#include "window.h"

#include <stdlib.h>
#include <string.h>

#include "merge/feed.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/text/fmt.h"
#include "before.h"
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
        process->cut_ns = from_ns - process->start_ns;
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
        if (all[i]->previous_image && all[i]->previous_image->index >= n) {
            all[i]->left_image = all[i]->previous_image;
            all[i]->previous_image = NULL;
        }
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
    bool lacks = false;
    for (pt_u32 i = 0; i < session->n_processes + session->n_before_window; i++)
        lacks |= session->processes[i]->lacks_earlier;
    if (lacks)
        pt_session_note(session, "what was before the window was read in part: of other connections the counts of a "
                                 "process tell who made them, where it only connects or only accepts; a longer --since "
                                 "reads more");
}

int pt_session_window(struct pt_session *session, pt_i64 from_ns, struct pt_error *err)
{
    struct summing summing = {0};
    if (from_ns <= 0)
        return 0; /* the run is not older than that */
    drop_ended(session, from_ns);
    pt_session_find_before(session, from_ns);
    const int summed = sum_up(session, from_ns, &summing, err);
    session->window_from_ns = from_ns;
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
