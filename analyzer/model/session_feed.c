/* SPDX-License-Identifier: MIT
 *
 * session_feed.c - Owns: which blocks of a session are merged, what their damage adds to the quality figures, and what
 * the feed of a window begins with. Threads: one.
 */
#include "session_feed.h"

#include <stdlib.h>
#include <string.h>

#include "merge/merge.h"
#include "util/mem.h"
#include "util/vec.h"
#include "session_data.h"
#include "threads.h"

static bool may_go_on(const struct pt_process *process)
{
    return process->is_running || process->is_out_of_sight ||
           (process->session->is_out_of_sight && process->state == PT_PROCESS_LIVE);
}

/* The ring of a running process goes on over blocks that were found there when it was opened. */
static void count_damage(struct pt_quality *q, const struct pt_block_ref *ref, bool goes_on)
{
    const pt_u32 events = pt_block_ref_events(ref);
    pt_u64 *lost = goes_on ? &q->overwritten : &q->corrupt_events;
    *lost = pt_sum(*lost, events);
    q->corrupt_blocks = pt_sum(q->corrupt_blocks, !goes_on);
    q->events -= events < q->events ? events : q->events;
}

static void damaged(struct pt_process *process, const struct pt_block_ref *ref)
{
    /* A second pass over the same session reads the same block again. */
    struct pt_process_data *data = pt_process_data_of(process);
    uint64_t *seen = pt_map_at(&data->damaged_blocks, pt_block_ref_offset(ref));
    if (*seen)
        return;
    *seen = 1;
    count_damage(&process->quality, ref, may_go_on(process));
    count_damage(&process->session->quality, ref, may_go_on(process));
}

struct sources {
    PT_VEC(struct pt_merge_source);
};

/* What threads do: a device's slot holds none of it. */
#define OF_THREADS                                                                                                     \
    ((pt_u32)(PT_CATEGORY_HEAP | PT_CATEGORY_IO | PT_CATEGORY_META | PT_CATEGORY_STDIO | PT_CATEGORY_PROC |            \
              PT_CATEGORY_WAIT | PT_CATEGORY_NET))

static void add_source(struct sources *sources, struct pt_merge_source source)
{
    const size_t n = source.from.blocks->n;
    source.from.is_unordered = n && source.from.blocks->runs.items[0].tid >= PT_DEVICE_TID;
    if (source.from.is_unordered && source.from.categories && !(source.from.categories & ~OF_THREADS))
        return;
    for (size_t first = 0; first < n; first = source.end_block) {
        source.first_block = first;
        source.end_block = source.from.is_unordered ? first + 1 : n;
        pt_vec_push(sources, source);
    }
}

static bool wanted(const struct pt_process *p, const struct pt_filter *filter)
{
    if (!filter)
        return true;
    return (!filter->pid || filter->pid == p->pid) && (!filter->stage || !strcmp(filter->stage, p->stage));
}

/* Of a window, what lies there: heap events say nothing without what came before. */
static struct pt_filter within_window(const struct pt_session *session, const struct pt_filter *filter)
{
    struct pt_filter narrowed = filter ? *filter : (struct pt_filter){0};
    if (narrowed.from_ns < session->window_from_ns)
        narrowed.from_ns = session->window_from_ns;
    narrowed.cuts = true;
    narrowed.categories = (narrowed.categories ? narrowed.categories : ~0u) & ~(pt_u32)PT_CATEGORY_HEAP;
    return narrowed;
}

static bool wanted_slot(const struct pt_trace_slot *slot, const struct pt_filter *filter)
{
    return !filter || !filter->thread || filter->thread->slot == slot->slot;
}

static void add_slot(struct sources *sources, struct pt_process *process, const struct pt_trace_slot *slot,
                     const struct pt_filter *filter)
{
    const struct pt_process_data *data = pt_process_data_of(process);
    const bool no_units = filter && filter->categories && !(filter->categories & PT_CATEGORY_HEAP);
    for (int which = no_units ? PT_BUFFER_RECORDS : PT_BUFFER_HEAP; which < PT_BUFFER__COUNT; which++) {
        const struct pt_decode_source from = {.file = process->file,
                                              .schema = data->schema,
                                              .scale = &data->scale,
                                              .blocks = &slot->blocks[which],
                                              .categories = filter ? filter->categories : 0,
                                              .long_categories = filter ? filter->long_categories : 0,
                                              .min_duration_ns = filter ? filter->min_duration_ns : 0};
        add_source(sources, (struct pt_merge_source){.from = from, .process = process, .slot = slot->slot});
    }
}

/* ---- a window ---- */

/* What holds on since before the window, then its events. */
struct window_feed {
    struct pt_feed feed; /* first */
    struct pt_feed *events;
    const struct pt_session *session;
    struct pt_filter filter;
    pt_u32 next_state;
};

static bool passes(const struct pt_filter *filter, const struct pt_event *state)
{
    const struct pt_decode_source limits = {.categories = filter->categories,
                                            .long_categories = filter->long_categories,
                                            .min_duration_ns = filter->min_duration_ns};
    return wanted(state->process, filter) && (!filter->process || filter->process == state->process) &&
           (!filter->thread || filter->thread->slot == state->thread->slot) &&
           (!filter->until_ns || state->start_ns < filter->until_ns) && state->start_ns >= filter->from_ns &&
           !pt_is_left_out(&limits, state->desc->category, state->duration_ns);
}

static int next_of_window(struct pt_feed *self, struct pt_event *ret_event, struct pt_error *err)
{
    struct window_feed *window = (struct window_feed *)self;
    while (window->next_state < window->session->n_states) {
        *ret_event = window->session->states[window->next_state++];
        if (passes(&window->filter, ret_event))
            return 1;
    }
    return window->events->next(window->events, ret_event, err);
}

static void close_window(struct pt_feed *self)
{
    struct window_feed *window = (struct window_feed *)self;
    window->events->close(window->events);
    free(window);
}

static struct pt_feed *begin_with_states(const struct pt_session *session, const struct pt_filter *filter,
                                         struct pt_feed *events)
{
    if (!session->n_states)
        return events;
    struct window_feed *window = pt_malloc(sizeof *window);
    *window = (struct window_feed){{next_of_window, close_window}, events, session, *filter, 0};
    return &window->feed;
}

struct pt_feed *pt_session_feed(struct pt_session *session, const struct pt_filter *filter, struct pt_error *err)
{
    const struct pt_filter narrowed = within_window(session, filter);
    filter = session->window_from_ns > 0 ? &narrowed : filter;
    static const struct pt_merge_owner owner = {pt_process_thread, damaged, pt_process_thread_by_tid};
    struct sources sources = {0};
    (void)err;
    /* A hundred thousand launchers are read one by one. */
    const bool is_of_one = filter && filter->process;
    const pt_u32 first = is_of_one ? filter->process->index : 0;
    const pt_u32 end = is_of_one ? first + 1 : session->n_processes;
    for (pt_u32 i = first; i < end; i++) {
        struct pt_process *p = session->processes[i];
        for (size_t s = 0; s < p->file->slots.n && wanted(p, filter); s++)
            if (wanted_slot(&p->file->slots.items[s], filter))
                add_slot(&sources, p, &p->file->slots.items[s], filter);
    }
    struct pt_feed *events = pt_merge_new(sources.items, sources.n, &owner, filter);
    return session->window_from_ns > 0 ? begin_with_states(session, filter, events) : events;
}
