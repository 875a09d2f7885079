/* SPDX-License-Identifier: MIT
 *
 * Owns: which line of the user's has most of the time of what. Threads: one. State: none. Never: guesses one for a
 * training whose Python was not seen.
 */
#include "loop_places.h"

#include <stdlib.h>

#include "facts/facts.h"
#include "facts/python/places.h"

struct candidate {
    const struct pt_process *process;
    pt_u32 stack;
    pt_i64 ns;
};

struct candidates {
    PT_VEC(struct candidate);
};

static void add(struct candidates *all, const struct pt_process *process, pt_u32 stack, pt_i64 ns)
{
    if (!stack)
        return;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].process == process && all->items[i].stack == stack) {
            all->items[i].ns += ns;
            return;
        }
    pt_vec_push(all, ((struct candidate){process, stack, ns}));
}

static void set_heaviest(struct pt_profile *profile, pt_u32 stage, const char *metric, struct candidates *all)
{
    const struct candidate *heaviest = NULL;
    for (size_t i = 0; i < all->n; i++)
        if (!heaviest || all->items[i].ns > heaviest->ns)
            heaviest = &all->items[i];
    if (heaviest)
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), metric,
                       pt_python_place_of_stack(profile, heaviest->process, heaviest->stack));
    free(all->items);
}

static void set_passes(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world,
                       enum pt_pass_kind kind, const char *metric)
{
    struct candidates all = {0};
    for (pt_u32 i = 0; i < world->n_counted; i++)
        for (size_t j = 0; j < world->counted[i]->n_kept; j++)
            if (world->counted[i]->kept[j].kind == kind)
                add(&all, world->counted[i]->process, world->counted[i]->kept[j].stack, world->counted[i]->kept[j].ns);
    set_heaviest(results->profile, stage, metric, &all);
}

void pt_training_places(const struct pt_trainings *results, pt_u32 stage, const struct pt_world *world)
{
    struct candidates saved = {0};
    for (size_t i = 0; i < results->sums->places.n; i++) {
        const struct pt_phase_place *place = &results->sums->places.items[i];
        if (place->stage == stage && place->kind == PT_PHASE_checkpoint)
            add(&saved, place->process, place->stack, place->total_ns);
    }
    set_heaviest(results->profile, stage, "training.checkpoints.place", &saved);
    set_passes(results, stage, world, PT_PASS_EPOCH, "training.epochs.place");
    set_passes(results, stage, world, PT_PASS_VALIDATION, "training.validations.place");
}
