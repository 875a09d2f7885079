/* SPDX-License-Identifier: MIT
 *
 * Owns: how long each thread waited for a lock, and held it while others did. Threads: one. Never: sees an event.
 */
#include "lock_turns.h"

#include <math.h>
#include <stdlib.h>

#include "util/mem.h"

/* Of the time that it was held: what the waiting threads themselves must have. */
#define SHARE_OF_TURNS 0.8

struct turn {
    pt_i64 start_ns, end_ns; /* first and last wait */
    double waited_ns, held_ns;
};

static struct turn *turn_of(struct pt_lock_turns *turns, const struct pt_thread *thread)
{
    pt_u64 *slot = pt_map_at(&turns->by_thread, (uintptr_t)thread);
    if (!*slot)
        *slot = (uintptr_t)pt_calloc(1, sizeof(struct turn));
    return (struct turn *)(uintptr_t)*slot;
}

void pt_lock_turns_waited(struct pt_lock_turns *turns, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns)
{
    struct turn *turn = turn_of(turns, thread);
    if (turn->waited_ns == 0 || start_ns < turn->start_ns)
        turn->start_ns = start_ns;
    if (turn->waited_ns == 0 || end_ns > turn->end_ns)
        turn->end_ns = end_ns;
    turn->waited_ns += (double)(end_ns - start_ns);
}

void pt_lock_turns_held(struct pt_lock_turns *turns, const struct pt_thread *thread, double ns)
{
    turns->held_ns += ns;
    if (thread)
        turn_of(turns, thread)->held_ns += ns;
}

static int by_end(const void *a, const void *b)
{
    const struct turn *x = *(struct turn *const *)a, *y = *(struct turn *const *)b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* How many of the first n ended before a time. */
static size_t ended_before(struct turn *const *turns, size_t n, pt_i64 at_ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (turns[middle]->end_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Weighted interval scheduling: of threads that waited one after another, those that waited longest together. */
static double longest_chain_ns(struct turn **turns, size_t n)
{
    double *most_ns = pt_calloc(n + 1, sizeof *most_ns); /* of the first i */
    qsort(turns, n, sizeof *turns, by_end);
    for (size_t i = 0; i < n; i++)
        most_ns[i + 1] = fmax(most_ns[i], most_ns[ended_before(turns, i, turns[i]->start_ns)] + turns[i]->waited_ns);
    const double longest_ns = most_ns[n];
    free(most_ns);
    return longest_ns;
}

double pt_lock_turns_most_s(const struct pt_lock_turns *turns)
{
    struct turn **waiting = pt_calloc(turns->by_thread.n + 1, sizeof *waiting);
    double most_s = HUGE_VAL, held_ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < turns->by_thread.n; i++) {
        struct turn *turn = (struct turn *)(uintptr_t)turns->by_thread.entries[i].value;
        if (turn->waited_ns <= 0)
            continue;
        waiting[n++] = turn;
        held_ns += turn->held_ns;
    }
    if (n > 1 && held_ns >= SHARE_OF_TURNS * turns->held_ns)
        most_s = longest_chain_ns(waiting, n) / 1e9;
    free(waiting);
    return most_s;
}

void pt_lock_turns_fini(struct pt_lock_turns *turns)
{
    for (size_t i = 0; i < turns->by_thread.n; i++)
        free((void *)(uintptr_t)turns->by_thread.entries[i].value);
    pt_map_fini(&turns->by_thread);
}
