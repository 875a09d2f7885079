/* SPDX-License-Identifier: MIT
 *
 * Owns: where in Python files are read again. Threads: one. Never: takes another file's place for it: what else the
 * program reads, its modules for one, may take longer and lie elsewhere.
 */
#include "again_places.h"

#include <stdlib.h>

#include "facts/python/frames.h"
#include "facts/state.h"

enum { MOST_AGAIN_PLACES = 200 };

static const struct pt_process *starter_of(const struct pt_process *process)
{
    return pt_process_first_image(process)->parent;
}

/* A command has no Python: the line says it that started the command, or the shell around it. */
static const struct pt_place_sum *place_of(const struct pt_profile *profile, const struct pt_file_use *file)
{
    const struct pt_python_places *places = &profile->facts->places;
    const struct pt_place_sum *sum =
        pt_python_heaviest_place(places, PT_PLACE_OF_FILE, file->stage, (uintptr_t)file->path);
    const struct pt_process *process = file->reader ? starter_of(profile->session->processes[file->reader - 1]) : NULL;
    for (; !sum && process; process = starter_of(process))
        sum = pt_python_heaviest_place(places, PT_PLACE_OF_COMMANDS, process->index, 0);
    return sum;
}

void pt_again_places_add(struct pt_again_places *places, const struct pt_profile *profile,
                         const struct pt_file_use *file, double s)
{
    const struct pt_place_sum *place = file->path && s > 0 ? place_of(profile, file) : NULL;
    if (!place)
        return;
    pt_u64 *slot = pt_map_at(&places->by_place, (pt_u64)place->process->index << 32 | place->stack);
    if (!*slot && places->n < MOST_AGAIN_PLACES) {
        pt_vec_push(places, ((struct pt_again_place){place, 0}));
        *slot = places->n;
    }
    if (*slot)
        places->items[*slot - 1].s += s;
}

void pt_again_places_finish(struct pt_again_places *places, struct pt_profile *profile, pt_u32 stage)
{
    for (size_t i = 0; i < places->n; i++) {
        struct pt_stack_frame frames[PT_STACK_FRAMES];
        const struct pt_place_sum *place = places->items[i].place;
        const pt_u32 n = pt_python_stack(place->process, place->stack, &profile->stacks.texts, frames);
        if (!pt_python_own_frame(frames, n))
            continue;
        struct pt_stack *stack = pt_stacks_add(&profile->stacks, stage, frames, n);
        stack->part = PT_PART_file_read;
        stack->cost[PT_STACK_READ_AGAIN_S] = places->items[i].s;
    }
    free(places->items);
    pt_map_fini(&places->by_place);
    *places = (struct pt_again_places){0};
}
