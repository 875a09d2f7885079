/* SPDX-License-Identifier: MIT
 *
 * Owns: which phases are open in a run that goes on, by its newest events. Threads: main only. Never: takes a program
 * for one that hangs in a step that may be at something else: evaluating, compiling, saving, or anything after its
 * training.
 */
#include "in_phase.h"

#include <stdlib.h>

#include "decode/phase_names.h"
#include "proftrace/payloads.h"
#include "profile/open.h"
#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/vec.h"

enum { MAX_DEPTH = 16, TIMES_BEFORE = 2 };

struct thread {
    pt_u32 depth; /* also counts what is deeper than MAX_DEPTH */
    pt_u8 open[MAX_DEPTH];
    pt_u32 ended[PT_N_PHASES];
};

struct threads {
    PT_VEC(struct thread *);
    struct pt_map by_thread; /* -> index, plus 1 */
};

/* A forward pass, too, may evaluate all at once, and a batch may be waited for as long as it takes to make. */
static bool is_of_steps(pt_u32 phase)
{
    switch (phase) {
    case PT_PHASE_transfer:
    case PT_PHASE_backward:
    case PT_PHASE_zero_grad:
    case PT_PHASE_optimizer_step:
    case PT_PHASE_grad_scaling:
    case PT_PHASE_collective:
    case PT_PHASE_train_step:
        return true;
    default:
        return false;
    }
}

static struct thread *thread_of(struct threads *threads, const struct pt_thread *which)
{
    uint64_t *place = pt_map_at(&threads->by_thread, (uintptr_t)which);
    if (!*place) {
        pt_vec_push(threads, pt_calloc(1, sizeof(struct thread)));
        *place = threads->n;
    }
    return threads->items[*place - 1];
}

static void take(struct thread *thread, const struct pt_event *event)
{
    if (event->desc->kind == PT_KIND_phase_begin) {
        if (thread->depth < MAX_DEPTH)
            thread->open[thread->depth] = (pt_u8)pt_phase_of_tag(event->tag);
        thread->depth++;
    } else if (event->desc->kind == PT_KIND_phase_end && thread->depth && --thread->depth < MAX_DEPTH) {
        thread->ended[thread->open[thread->depth]]++;
    }
}

static bool is_in_step(const struct thread *thread)
{
    if (!thread->depth || thread->depth > MAX_DEPTH)
        return false;
    const pt_u8 innermost = thread->open[thread->depth - 1];
    return is_of_steps(innermost) && thread->ended[innermost] >= TIMES_BEFORE;
}

bool pt_stuck_is_in_phase(const char *path, pt_u64 window_ns)
{
    struct pt_run run = {0};
    struct threads threads = {0};
    struct pt_error ignored = {0};
    struct pt_event event;
    bool is_in = false;
    if (pt_run_open(path, &run, &ignored) == 0 && run.session) {
        const pt_i64 duration_ns = run.session->duration_ns;
        const struct pt_filter filter = {
            .categories = PT_CATEGORY_USER,
            .from_ns = (pt_u64)duration_ns > window_ns ? duration_ns - (pt_i64)window_ns : 0,
        };
        PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(run.session, &filter, &ignored);
        while (feed && feed->next(feed, &event, &ignored) > 0)
            if (event.thread && event.process->is_running)
                take(thread_of(&threads, event.thread), &event);
    }
    for (size_t i = 0; i < threads.n; i++) {
        is_in |= is_in_step(threads.items[i]);
        free(threads.items[i]);
    }
    free(threads.items);
    pt_map_fini(&threads.by_thread);
    pt_run_close(&run);
    return is_in;
}
