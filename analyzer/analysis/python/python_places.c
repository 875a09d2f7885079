/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of places in Python that waited or were in calls, and their stacks for the findings. Threads: one.
 * Never: looks at an event: facts have found the places.
 */
#include <stdlib.h>

#include "analysis/analysis.h"
#include "facts/python/frames.h"
#include "facts/state.h"
#include "util/mem.h"

enum { MOST_STACKS = 400 };

struct place_row {
    const char *place, *function, *file, *reason;
    pt_u32 line;
    struct pt_value main_s;
    double total_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct place_row, place, TEXT, "Place"),     PT_COLUMN(struct place_row, reason, TEXT, "Reason"),
    PT_COLUMN(struct place_row, total_s, SECONDS, "Time"), PT_COLUMN(struct place_row, main_s, SECONDS, "Main thread"),
    PT_COLUMN(struct place_row, function, TEXT, NULL),     PT_COLUMN(struct place_row, file, TEXT, NULL),
    PT_COLUMN(struct place_row, line, NUMBER, NULL),
};
static const struct pt_table_kind by_place = {PT_VIEW_python_places, .most = MOST_STACKS, PT_COLUMNS(columns)};

static int by_time(const void *a, const void *b)
{
    const struct pt_place_sum *x = *(const struct pt_place_sum *const *)a, *y = *(const struct pt_place_sum *const *)b;
    if (x->s != y->s)
        return x->s < y->s ? 1 : -1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* What findings look for. */
static void add_stack(struct pt_profile *profile, pt_u32 stage, const struct pt_place_sum *sum,
                      const struct pt_stack_frame *frames, pt_u32 n)
{
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, stage, frames, n);
    stack->part = (pt_u32)sum->b;
    stack->cost[PT_STACK_CALL_S] = sum->s;
    stack->cost[PT_STACK_MAIN_CALL_S] = sum->main_s;
    stack->cost[PT_STACK_MAINS_CALL_S] = sum->main_s + sum->worker_s;
    stack->cost[PT_STACK_WORKER_S] = sum->worker_s;
}

static void add_row(struct pt_metrics *metrics, struct pt_table *table, const struct pt_place_sum *sum,
                    const struct pt_stack_frame *own)
{
    if (!pt_table_has_room(table))
        return;
    pt_table_add(table,
                 &(struct place_row){
                     .place = pt_metrics_format(metrics, "%s:%u %s", pt_base_name(own->file), own->line, own->function),
                     .function = own->function,
                     .file = own->file,
                     .line = own->line,
                     .reason = pt_time_parts[sum->b].label,
                     .main_s = pt_real(sum->main_s),
                     .total_s = sum->s,
                 });
}

static void finish_stage(struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_python_places *places = &profile->facts->places;
    struct {
        PT_VEC(const struct pt_place_sum *);
    } found = {0};
    for (size_t i = 0; i < places->sums.n; i++) {
        const struct pt_place_sum *sum = &places->sums.items[i];
        if (sum->subject == PT_PLACE_OF_PART && sum->a == stage && sum->b < PT_PART__COUNT)
            pt_vec_push(&found, sum);
    }
    if (!found.n)
        return;
    qsort(found.items, found.n, sizeof *found.items, by_time);
    struct pt_table *table = pt_metrics_add_table(&profile->metrics, pt_scope_stage(stage), &by_place);
    for (size_t i = 0; i < found.n && i < MOST_STACKS; i++) {
        struct pt_stack_frame frames[PT_STACK_FRAMES];
        const pt_u32 n =
            pt_python_stack(found.items[i]->process, found.items[i]->stack, &profile->stacks.texts, frames);
        const struct pt_stack_frame *own = pt_python_own_frame(frames, n);
        if (!own)
            continue;
        add_row(&profile->metrics, table, found.items[i], own);
        add_stack(profile, stage, found.items[i], frames, n);
    }
    free(found.items);
}

static void finish(void *state, struct pt_profile *profile)
{
    (void)state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(profile, stage);
}

const struct pt_analysis pt_analysis_python_places = {
    .name = "python_places",
    .summary = "time in calls by place in Python",
    .finish = finish,
};
