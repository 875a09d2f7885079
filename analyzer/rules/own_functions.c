/* SPDX-License-Identifier: MIT
 *
 * Owns: the cost of each of the program's own functions of Python, from its stacks. Threads: one. Never: counts what a
 * function drives, a framework's operations or other functions, as its own.
 */
#include "own_functions.h"

#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"
#include "util/map.h"

/* Of all that the main thread computes: with more, what is called from the outermost code is the program. */
#define WHOLE_PROGRAM 0.9

static bool is_own(const struct pt_stack_frame *frame)
{
    return frame->flags & PT_FRAME_OF_PYTHON && !(frame->flags & PT_FRAME_SERVES) && frame->file;
}

static bool is_outermost(const char *function)
{
    return !strcmp(function, "<module>");
}

struct search {
    struct pt_own_functions *functions;
    struct pt_metrics *metrics;
    struct pt_map by_frame; /* the addresses of a function and its file -> index, plus 1 */
};

static struct pt_own_function *function_of(struct search *search, const struct pt_stack_frame *frame)
{
    struct pt_own_functions *functions = search->functions;
    pt_u64 *slot = pt_map_at(&search->by_frame, (uintptr_t)frame->function ^ (pt_u64)(uintptr_t)frame->file << 16);
    const size_t length = pt_python_named_length(frame->function);
    for (size_t i = 0; !*slot && i < functions->n; i++)
        if (!strncmp(functions->items[i].function, frame->function, length) && !functions->items[i].function[length] &&
            !strcmp(functions->items[i].file, frame->file))
            *slot = i + 1;
    if (!*slot) {
        const char *name = pt_metrics_format(search->metrics, "%.*s", (int)length, frame->function);
        pt_vec_push(functions, ((struct pt_own_function){.file = frame->file, .function = name}));
        *slot = functions->n;
    }
    return &functions->items[*slot - 1];
}

/* The next own function further out is another one; NULL = there is none. */
static const struct pt_stack_frame *caller_of(const struct pt_stack *stack, pt_u32 index, const char *function)
{
    for (pt_u32 i = index + 1; i < stack->n; i++)
        if (is_own(&stack->frames[i]) && !pt_python_is_part_of(stack->frames[i].function, function))
            return &stack->frames[i];
    return NULL;
}

static bool is_further_out(const struct pt_stack *stack, pt_u32 index, const char *function)
{
    for (pt_u32 i = index + 1; i < stack->n; i++)
        if (is_own(&stack->frames[i]) && pt_python_is_part_of(stack->frames[i].function, function))
            return true;
    return false;
}

/* A function that calls itself is counted once, by its outermost frame. */
static void add_stack(struct search *search, const struct pt_stack *stack)
{
    const struct pt_stack_frame *own = pt_python_own_frame(stack->frames, stack->n);
    if (own && is_own(own))
        function_of(search, own)->own_s += stack->cost[PT_STACK_PREPARING_S];
    for (pt_u32 i = 0; i < stack->n; i++) {
        if (!is_own(&stack->frames[i]))
            continue;
        struct pt_own_function *function = function_of(search, &stack->frames[i]);
        if (is_further_out(stack, i, function->function))
            continue;
        const struct pt_stack_frame *caller = caller_of(stack, i, function->function);
        function->with_s += stack->cost[PT_STACK_STEPS_S];
        function->called_s += caller && !is_outermost(caller->function) ? stack->cost[PT_STACK_STEPS_S] : 0;
    }
}

void pt_own_functions(struct pt_profile *profile, pt_i64 stage, struct pt_own_functions *ret_functions)
{
    *ret_functions = (struct pt_own_functions){0};
    struct search search = {ret_functions, &profile->metrics, {0}};
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage || stack->part != PT_STACK_ANY_PART)
            continue;
        ret_functions->all_s += stack->cost[PT_STACK_STEPS_S];
        if (stack->cost[PT_STACK_STEPS_S] > 0)
            add_stack(&search, stack);
    }
    pt_map_fini(&search.by_frame);
}

void pt_own_functions_free(struct pt_own_functions *functions)
{
    free(functions->items);
    *functions = (struct pt_own_functions){0};
}

bool pt_own_function_is_leaf(const struct pt_own_functions *functions, const struct pt_own_function *function,
                             double least)
{
    return !is_outermost(function->function) && function->own_s >= least * function->with_s &&
           (function->with_s < WHOLE_PROGRAM * functions->all_s || function->called_s >= function->with_s / 2);
}
