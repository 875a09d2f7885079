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

/* Most locks have a few threads, and these are compared faster than they are looked up. */
enum { FEW = 8 };

static struct pt_lock_turn *turn_of(struct pt_lock_turns *turns, const struct pt_thread *thread)
{
    for (size_t i = 0; i < turns->n && i < FEW; i++)
        if (turns->items[i].thread == thread)
            return &turns->items[i];
    pt_u64 *slot = turns->n < FEW ? NULL : pt_map_at(&turns->by_thread, (uintptr_t)thread);
    if (slot && *slot)
        return &turns->items[*slot - 1];
    pt_vec_push(turns, ((struct pt_lock_turn){.thread = thread}));
    if (slot)
        *slot = turns->n;
    return &turns->items[turns->n - 1];
}

void pt_lock_turns_waited(struct pt_lock_turns *turns, const struct pt_thread *thread, pt_i64 start_ns, pt_i64 end_ns)
{
    struct pt_lock_turn *turn = turn_of(turns, thread);
    if (turn->waited_ns == 0 || start_ns < turn->start_ns)
        turn->start_ns = start_ns;
    if (turn->waited_ns == 0 || end_ns > turn->end_ns)
        turn->end_ns = end_ns;
    turn->waited_ns += (double)(end_ns - start_ns);
    turn->has_waited = true;
}

void pt_lock_turns_held(struct pt_lock_turns *turns, const struct pt_thread *thread, double ns)
{
    turns->held_ns += ns;
    if (thread)
        turn_of(turns, thread)->held_ns += ns;
}

pt_u64 pt_lock_turns_waiters(const struct pt_lock_turns *turns)
{
    pt_u64 n = 0;
    for (size_t i = 0; i < turns->n; i++)
        n += turns->items[i].has_waited;
    return n;
}

static int by_end(const void *a, const void *b)
{
    const struct pt_lock_turn *x = *(struct pt_lock_turn *const *)a, *y = *(struct pt_lock_turn *const *)b;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* How many of the first n ended before a time. */
static size_t ended_before(struct pt_lock_turn *const *turns, size_t n, pt_i64 at_ns)
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
static double longest_chain_ns(struct pt_lock_turn **turns, size_t n)
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
    struct pt_lock_turn **waiting = pt_calloc(turns->n + 1, sizeof *waiting);
    double most_s = HUGE_VAL, held_ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < turns->n; i++) {
        struct pt_lock_turn *turn = &turns->items[i];
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
    free(turns->items);
    pt_map_fini(&turns->by_thread);
}
