/* SPDX-License-Identifier: MIT
 *
 * Owns: nothing. Threads: one. Never: adds what trainings cost that run beside each other; divides among them what one
 * of them costs.
 */
#include "at_once.h"

#include <math.h>
#include <stdlib.h>

static int by_until(const void *a, const void *b)
{
    const struct pt_at_once_one *x = a, *y = b;
    if (x->until_ns != y->until_ns)
        return x->until_ns < y->until_ns ? -1 : 1;
    return (x->counted > y->counted) - (x->counted < y->counted);
}

/* How many have ended at a time. */
static pt_u32 ended_at(const struct pt_at_once *once, pt_i64 at_ns)
{
    pt_u32 low = 0, high = once->n;
    while (low < high) {
        const pt_u32 middle = (low + high) / 2;
        if (once->by_end[middle].until_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pt_at_once pt_at_once_of(const struct pt_world *world)
{
    struct pt_at_once once = {.n = world->n_counted,
                              .by_end = pt_calloc(world->n_counted, sizeof *once.by_end),
                              .most = pt_calloc((size_t)world->n_counted + 1, sizeof *once.most)};
    for (pt_u32 i = 0; i < once.n; i++)
        once.by_end[i] = (struct pt_at_once_one){
            .counted = i, .from_ns = world->counted[i]->from_ns, .until_ns = world->counted[i]->until_ns};
    if (once.n)
        qsort(once.by_end, once.n, sizeof *once.by_end, by_until);
    for (pt_u32 i = 0; i < once.n; i++) {
        const pt_u32 before = ended_at(&once, once.by_end[i].from_ns);
        once.by_end[i].before = before < i ? before : i; /* one that took no time is not before itself */
    }
    return once;
}

void pt_at_once_free(struct pt_at_once *once)
{
    free(once->by_end);
    free(once->most);
}

double pt_at_once_cost(const struct pt_at_once *once, const double *costs, size_t stride)
{
    double *most = once->most;
    most[0] = 0;
    for (pt_u32 i = 0; i < once->n; i++) {
        const struct pt_at_once_one *one = &once->by_end[i];
        most[i + 1] = fmax(most[i], most[one->before] + costs[one->counted * stride]);
    }
    return most[once->n];
}
