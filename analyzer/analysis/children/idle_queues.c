/* SPDX-License-Identifier: MIT
 *
 * Owns: which loader's workers mostly wait for work beside a loader that does more. Threads: one, after the last event.
 * Never: leaves out the loader that does most.
 *
 * A training keeps the workers of its validation (persistent_workers), which do nothing until the next one: together
 * with them those that the training waits for were busy for less than half of the time, and nothing was said.
 */
#include "idle_queues.h"

#include <stdlib.h>

#include "util/auto.h"
#include "util/mem.h"

/* Workers that give their results to one process by one queue. */
struct queue {
    const struct pt_process *maker;
    pt_u32 results;
    double life_ns, busy_ns;
    pt_i64 start_ns, end_ns;
};

struct queues {
    PT_VEC(struct queue);
};

static pt_u32 results_of(const struct pt_children *children, const struct pt_children_life *life)
{
    return children->processes[life->process->index].results;
}

static struct queue *queue_of(const struct pt_children *children, struct queues *queues,
                              const struct pt_children_life *life)
{
    const struct pt_process *maker = pt_maker_of(life->process);
    const pt_u32 results = results_of(children, life);
    for (size_t i = 0; i < queues->n; i++)
        if (queues->items[i].maker == maker && queues->items[i].results == results)
            return &queues->items[i];
    pt_vec_push(
        queues,
        ((struct queue){
            .maker = maker, .results = results, .start_ns = life->process->start_ns, .end_ns = life->process->end_ns}));
    return &queues->items[queues->n - 1];
}

static void add(const struct pt_children *children, struct queues *queues, const struct pt_children_life *life)
{
    struct queue *queue = queue_of(children, queues, life);
    queue->life_ns += life->life_ns;
    queue->busy_ns += life->busy_ns;
    queue->start_ns = life->process->start_ns < queue->start_ns ? life->process->start_ns : queue->start_ns;
    queue->end_ns = life->process->end_ns > queue->end_ns ? life->process->end_ns : queue->end_ns;
}

static bool waits_beside(const struct queues *queues, const struct queue *queue)
{
    for (size_t i = 0; i < queues->n; i++) {
        const struct queue *other = &queues->items[i];
        if (other->maker == queue->maker && other->busy_ns > queue->busy_ns && other->start_ns < queue->end_ns &&
            queue->start_ns < other->end_ns)
            return 2 * queue->busy_ns < queue->life_ns;
    }
    return false;
}

void pt_children_find_idle(const struct pt_children *children, struct pt_children_life *lives, pt_u32 n)
{
    struct queues queues = {0};
    for (pt_u32 i = 0; i < n; i++)
        if (results_of(children, &lives[i]))
            add(children, &queues, &lives[i]);
    for (pt_u32 i = 0; i < n; i++)
        lives[i].waits_beside =
            results_of(children, &lives[i]) && waits_beside(&queues, queue_of(children, &queues, &lives[i]));
    free(queues.items);
}
