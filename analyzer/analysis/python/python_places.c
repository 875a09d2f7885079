/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of places in Python that waited or were in calls, and their stacks for the findings. Threads: one.
 * Never: looks at an event: facts have found the places.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "facts/python/frames.h"
#include "facts/state.h"
#include "facts/workers.h"
#include "util/auto.h"
#include "util/hash.h"
#include "util/map.h"
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
static void add_stack(struct pt_profile *profile, pt_u32 stage, const struct pt_place_sum *sum, bool waits_last,
                      const struct pt_stack_frame *frames, pt_u32 n)
{
    struct pt_stack *stack = pt_stacks_add(&profile->stacks, stage, frames, n);
    stack->part = (pt_u32)sum->b;
    stack->cost[PT_STACK_CALL_S] = sum->s;
    stack->cost[PT_STACK_MAIN_CALL_S] = sum->main_s;
    stack->cost[PT_STACK_MAINS_CALL_S] = sum->main_s + sum->worker_s;
    stack->cost[PT_STACK_LAST_CALL_S] = waits_last ? sum->s : 0;
    stack->cost[PT_STACK_WORKER_S] = sum->worker_s;
}

/* Stacks that meet in one line of the program's own code are one place. */
struct place {
    struct pt_stack_frame own; /* its texts are one for each */
    pt_u64 part;
    double s, main_s;
};

struct found {
    PT_VEC(struct place);
    struct pt_map by_place; /* function, file, line and part -> index + 1 */
};

static void add_place(struct found *found, const struct pt_place_sum *sum, const struct pt_stack_frame *own)
{
    const pt_u64 code = pt_hash_pair((uintptr_t)own->function, (uintptr_t)own->file);
    pt_u64 *index = pt_map_at(&found->by_place, pt_hash_pair(code, (pt_u64)own->line << 8 | sum->b));
    if (!*index) {
        pt_vec_push(found, ((struct place){.own = *own, .part = sum->b}));
        *index = found->n;
    }
    found->items[*index - 1].s += sum->s;
    found->items[*index - 1].main_s += sum->main_s;
}

static int by_time_of_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->s != y->s)
        return x->s < y->s ? 1 : -1;
    const int files = strcmp(x->own.file, y->own.file);
    return files                        ? files
           : x->own.line != y->own.line ? (x->own.line < y->own.line ? -1 : 1)
                                        : (x->part > y->part) - (x->part < y->part);
}

static void add_rows(struct pt_metrics *metrics, pt_u32 stage, const struct found *found)
{
    struct pt_table *table = pt_metrics_add_table(metrics, pt_scope_stage(stage), &by_place);
    for (size_t i = 0; i < found->n; i++) {
        const struct place *place = &found->items[i];
        if (place->s > 0 && pt_table_has_room(table))
            pt_table_add(table, &(struct place_row){
                                    .place = pt_python_place_text(metrics, place->own.file, place->own.line,
                                                                  place->own.function),
                                    .function = place->own.function,
                                    .file = place->own.file,
                                    .line = place->own.line,
                                    .reason = pt_time_parts[place->part].label,
                                    .main_s = pt_real(place->main_s),
                                    .total_s = place->s,
                                });
    }
}

struct sums {
    PT_VEC(const struct pt_place_sum *);
};

static void keep(struct pt_profile *profile, pt_u32 stage, const struct sums *sums)
{
    PT_AUTO(pt_freep) bool *wait_for_waiters = pt_wait_for_waiters(profile->session);
    struct found found = {0};
    for (size_t i = 0; i < sums->n; i++) {
        struct pt_stack_frame frames[PT_STACK_FRAMES];
        const struct pt_process *process = sums->items[i]->process;
        const pt_u32 n = pt_python_stack(process, sums->items[i]->stack, &profile->stacks.texts, frames);
        const struct pt_stack_frame *own = pt_python_own_frame(frames, n);
        if (!own)
            continue;
        add_place(&found, sums->items[i], own);
        if (i < MOST_STACKS)
            add_stack(profile, stage, sums->items[i], !wait_for_waiters[process->index], frames, n);
    }
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, by_time_of_place);
    add_rows(&profile->metrics, stage, &found);
    free(found.items);
    pt_map_fini(&found.by_place);
}

static void finish_stage(struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_python_places *places = &profile->facts->places;
    struct sums sums = {0};
    for (size_t i = 0; i < places->sums.n; i++) {
        const struct pt_place_sum *sum = &places->sums.items[i];
        if (sum->subject == PT_PLACE_OF_PART && sum->a == stage && sum->b < PT_PART__COUNT)
            pt_vec_push(&sums, sum);
    }
    if (sums.n) {
        qsort(sums.items, sums.n, sizeof *sums.items, by_time);
        keep(profile, stage, &sums);
    }
    free(sums.items);
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
