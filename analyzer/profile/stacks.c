/* SPDX-License-Identifier: MIT
 *
 * Owns: the stacks of a run and their texts. Threads: one at a time. Never: judges a frame.
 */
#include "stacks.h"

#include <stdlib.h>

static const char *copy(struct pt_stacks *stacks, const char *text)
{
    return text ? pt_intern_text(&stacks->texts, text) : NULL;
}

struct pt_stack *pt_stacks_add(struct pt_stacks *stacks, pt_u32 stage, const struct pt_stack_frame *frames, pt_u32 n)
{
    struct pt_stack_frame *to = pt_arena_alloc(&stacks->frames, (n ? n : 1) * sizeof *to);
    for (pt_u32 i = 0; i < n; i++)
        to[i] = (struct pt_stack_frame){
            .function = copy(stacks, frames[i].function),
            .file = copy(stacks, frames[i].file),
            .module = copy(stacks, frames[i].module),
            .line = frames[i].line,
            .flags = frames[i].flags,
        };
    pt_vec_push(stacks, ((struct pt_stack){.stage = stage, .part = PT_STACK_ANY_PART, .frames = to, .n = n}));
    return &stacks->items[stacks->n - 1];
}

void pt_stacks_free(struct pt_stacks *stacks)
{
    free(stacks->items);
    pt_intern_fini(&stacks->texts);
    pt_arena_fini(&stacks->frames);
    *stacks = (struct pt_stacks){0};
}
