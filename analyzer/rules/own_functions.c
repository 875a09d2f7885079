/* SPDX-License-Identifier: MIT
 *
 * Owns: the cost of each of the program's own functions of Python, from its stacks. Threads: one. Never: counts what a
 * function drives, a framework's operations or other functions, as its own.
 */
#include "own_functions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"
#include "util/hash.h"
#include "util/map.h"

/* Of all that the thread computes: with more, what is called from the outermost code is the program. */
#define WHOLE_PROGRAM 0.9
/* Of what a function does with all that it calls: a framework's operations have the rest. */
#define LEAST_PYTHON 0.8
/* Of what is called behind the steps: what it asks a framework for is its own affair, but a validation consists of
 * that. Samples of what ran right before it are among its. */
#define LEAST_OWN_BEHIND 0.4
/* Where Python's stack and the native one were taken some microseconds apart, some samples in a hundred join two
 * halves that are none of one whole. */
#define MOST_BACKWARD 0.1

static bool is_outermost(const char *function)
{
    return !strcmp(function, "<module>");
}

struct search {
    struct pt_own_functions *functions;
    struct pt_metrics *metrics;
    enum pt_stack_cost cost, own_cost, calls_cost;
    struct pt_map by_frame; /* the addresses of a function and its file -> index, plus 1 */
    struct pt_map
        by_library; /* those of a library's function -> index of the only one that calls it, plus 1; SEVERAL */
};

#define SEVERAL UINT64_MAX

/* Texts of stacks are interned: equal ones have equal addresses. */
static bool is_in(const struct pt_stack_frame *frame, const struct pt_own_function *function)
{
    return frame->file == function->file && pt_python_is_part_of(frame->function, function->function);
}

static pt_u64 key_of(const struct pt_stack_frame *frame)
{
    return pt_hash_pair((uintptr_t)frame->function, (uintptr_t)frame->file);
}

static struct pt_own_function *function_of(struct search *search, const struct pt_stack_frame *frame)
{
    struct pt_own_functions *functions = search->functions;
    pt_u64 *slot = pt_map_at(&search->by_frame, key_of(frame));
    const size_t length = pt_python_named_length(frame->function);
    if (*slot && !is_in(frame, &functions->items[*slot - 1]))
        *slot = 0; /* two keys may be equal by chance */
    for (size_t i = 0; !*slot && i < functions->n; i++)
        if (is_in(frame, &functions->items[i]))
            *slot = i + 1;
    if (!*slot) {
        const char *name = pt_metrics_format(search->metrics, "%.*s", (int)length, frame->function);
        pt_vec_push(functions, ((struct pt_own_function){.file = frame->file, .function = name}));
        *slot = functions->n;
    }
    return &functions->items[*slot - 1];
}

/* The next own function further out is another one; NULL = there is none. */
static const struct pt_stack_frame *caller_of(const struct pt_stack *stack, pt_u32 index,
                                              const struct pt_own_function *function)
{
    for (pt_u32 i = index + 1; i < stack->n; i++)
        if (pt_python_is_own(&stack->frames[i]) && !is_in(&stack->frames[i], function))
            return &stack->frames[i];
    return NULL;
}

static bool is_further_out(const struct pt_stack *stack, pt_u32 index, const struct pt_own_function *function)
{
    for (pt_u32 i = index + 1; i < stack->n; i++)
        if (pt_python_is_own(&stack->frames[i]) && is_in(&stack->frames[i], function))
            return true;
    return false;
}

/* Whether what a frame calls is a model: that is no preparing, wherever it is called. */
static bool is_in_module(const struct pt_stack *stack, pt_u32 index)
{
    for (pt_u32 i = 0; i < index; i++)
        if (stack->frames[i].flags & PT_FRAME_OF_PYTHON && stack->frames[i].file &&
            strstr(stack->frames[i].file, "/torch/nn/modules/module.py"))
            return true;
    return false;
}

/* Which of the program's functions the library's functions of a stack work for. */
static void note_libraries(struct search *search, const struct pt_stack *stack)
{
    const struct pt_stack_frame *own = pt_python_own_frame(stack->frames, stack->n);
    if (!own || !pt_python_is_own(own) || pt_python_is_library_frame(own))
        return;
    const pt_u64 index = (pt_u64)(function_of(search, own) - search->functions->items) + 1;
    for (const struct pt_stack_frame *frame = stack->frames; frame < own; frame++) {
        if (!(frame->flags & PT_FRAME_OF_PYTHON) || !frame->file)
            continue;
        pt_u64 *slot = pt_map_at(&search->by_library, key_of(frame));
        *slot = *slot && *slot != index ? SEVERAL : index;
    }
}

/* Of a generator that is resumed the callers are not always known: what works for one function alone is that one's. */
static struct pt_own_function *who_has_it(const struct search *search, const struct pt_stack *stack)
{
    const struct pt_stack_frame *outermost = NULL;
    for (pt_u32 i = 0; i < stack->n; i++)
        outermost =
            stack->frames[i].flags & PT_FRAME_OF_PYTHON && stack->frames[i].file ? &stack->frames[i] : outermost;
    const pt_u64 *slot =
        outermost && pt_python_is_library_frame(outermost) ? pt_map_find(&search->by_library, key_of(outermost)) : NULL;
    return slot && *slot != SEVERAL ? &search->functions->items[*slot - 1] : NULL;
}

/* Neither the interpreter nor Python: NumPy, say. Libc and the kernel do what their caller asks for. */
static bool is_in_native(const struct pt_stack *stack)
{
    pt_u32 top = 0;
    while (top + 1 < stack->n && stack->frames[top].flags & PT_FRAME_SERVES &&
           !(stack->frames[top].flags & PT_FRAME_OF_PYTHON))
        top++;
    return !(stack->frames[top].flags & (PT_FRAME_IS_PYTHON | PT_FRAME_OF_PYTHON));
}

static void add_own(const struct search *search, const struct pt_stack *stack, struct pt_own_function *function)
{
    function->own_s += stack->cost[search->own_cost];
    function->own_native_s += is_in_native(stack) ? stack->cost[search->own_cost] : 0;
}

static void add_to_one(const struct search *search, const struct pt_stack *stack, struct pt_own_function *function)
{
    add_own(search, stack, function);
    function->with_s += stack->cost[search->cost];
    function->called_s += stack->cost[search->cost];
    function->beside_s += stack->cost[search->own_cost];
    function->in_calls_s += stack->cost[search->calls_cost];
    function->loading_s += stack->cost[PT_STACK_FETCH_S];
}

/* A function that calls itself is counted once, by its outermost frame. */
static void add_stack(struct search *search, const struct pt_stack *stack)
{
    const struct pt_stack_frame *own = pt_python_own_frame(stack->frames, stack->n);
    struct pt_own_function *whose = own && pt_python_is_own(own) ? who_has_it(search, stack) : NULL;
    if (whose) {
        add_to_one(search, stack, whose);
        return;
    }
    if (own && pt_python_is_own(own))
        add_own(search, stack, function_of(search, own));
    for (pt_u32 i = 0; i < stack->n; i++) {
        if (!pt_python_is_own(&stack->frames[i]))
            continue;
        struct pt_own_function *function = function_of(search, &stack->frames[i]);
        if (is_further_out(stack, i, function))
            continue;
        const struct pt_stack_frame *caller = caller_of(stack, i, function);
        function->with_s += stack->cost[search->cost];
        function->beside_s += stack->cost[search->own_cost];
        function->behind_s += stack->cost[PT_STACK_BEHIND_S];
        function->behind_own_s += stack->cost[PT_STACK_BEHIND_OWN_S];
        function->in_calls_s += stack->cost[search->calls_cost];
        function->loading_s += stack->cost[PT_STACK_FETCH_S];
        function->backward_s += stack->cost[PT_STACK_BACKWARD_S];
        function->modules_s += is_in_module(stack, i) ? stack->cost[search->cost] : 0;
        function->called_s += caller && !is_outermost(caller->function) ? stack->cost[search->cost] : 0;
    }
}

void pt_own_functions(struct pt_profile *profile, pt_i64 stage, bool in_training,
                      struct pt_own_functions *ret_functions)
{
    *ret_functions = (struct pt_own_functions){0};
    struct search search = {.functions = ret_functions,
                            .metrics = &profile->metrics,
                            .cost = in_training ? PT_STACK_TRAINING_S : PT_STACK_CRITICAL_S,
                            .own_cost = in_training ? PT_STACK_TRAINING_OWN_S : PT_STACK_CRITICAL_OWN_S,
                            .calls_cost = in_training ? PT_STACK_IN_CALLS_S : PT_STACK_CRITICAL_IN_CALLS_S};
    for (size_t i = 0; i < profile->stacks.n; i++)
        if ((pt_i64)profile->stacks.items[i].stage == stage)
            note_libraries(&search, &profile->stacks.items[i]);
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage || stack->part != PT_STACK_ANY_PART)
            continue;
        ret_functions->all_s += stack->cost[search.cost];
        if (stack->cost[search.cost] > 0)
            add_stack(&search, stack);
    }
    pt_map_fini(&search.by_frame);
    pt_map_fini(&search.by_library);
}

void pt_own_functions_free(struct pt_own_functions *functions)
{
    free(functions->items);
    *functions = (struct pt_own_functions){0};
}

static bool runs_the_program(const struct pt_own_functions *functions, const struct pt_own_function *function)
{
    return is_outermost(function->function) ||
           (function->with_s >= WHOLE_PROGRAM * functions->all_s && function->called_s < function->with_s / 2);
}

bool pt_own_function_is_leaf(const struct pt_own_functions *functions, const struct pt_own_function *function,
                             double least)
{
    return function->own_s >= least * function->with_s && !runs_the_program(functions, function);
}

bool pt_own_function_is_python(const struct pt_own_functions *functions, const struct pt_own_function *function)
{
    return function->beside_s >= LEAST_PYTHON * function->with_s && !runs_the_program(functions, function);
}

bool pt_own_function_is_behind(const struct pt_own_functions *functions, const struct pt_own_function *function)
{
    const bool is_by_itself =
        function->behind_s >= LEAST_PYTHON * function->with_s && function->own_s >= LEAST_OWN_BEHIND * function->with_s;
    return ((function->behind_own_s > 0 && function->behind_own_s >= LEAST_PYTHON * function->with_s) ||
            is_by_itself) &&
           !runs_the_program(functions, function);
}

bool pt_own_function_trains(const struct pt_own_function *function)
{
    return function->backward_s > MOST_BACKWARD * function->with_s;
}

static bool is_in_function(const struct pt_stack *stack, const struct pt_own_function *function)
{
    for (pt_u32 i = 0; i < stack->n; i++)
        if (stack->frames[i].flags & PT_FRAME_OF_PYTHON && is_in(&stack->frames[i], function))
            return true;
    return false;
}

double pt_own_function_native_percent(const struct pt_profile *profile, pt_i64 stage,
                                      const struct pt_own_function *function)
{
    double all_s = 0, native_s = 0;
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        if ((pt_i64)stack->stage != stage || !(stack->cost[PT_STACK_TRAINING_S] > 0) ||
            !is_in_function(stack, function))
            continue;
        all_s += stack->cost[PT_STACK_TRAINING_S];
        const double dispatch_s = fmax(stack->cost[PT_STACK_BEHIND_OWN_S] - stack->cost[PT_STACK_TRAINING_OWN_S], 0);
        native_s += is_in_native(stack) ? stack->cost[PT_STACK_TRAINING_S] - dispatch_s : 0;
    }
    return all_s > 0 ? 100 * native_s / all_s : 0;
}

struct pt_in_calls pt_own_function_in_calls(const struct pt_profile *profile, pt_i64 stage,
                                            const struct pt_own_function *function, enum pt_time_part part)
{
    struct pt_in_calls calls = {0};
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        /* Samples from outside are of the same time as places from within, which know Python. */
        if ((pt_i64)stack->stage != stage || stack->part != part || !(stack->cost[PT_STACK_MAIN_CALL_S] > 0) ||
            !pt_python_own_frame(stack->frames, stack->n))
            continue;
        calls.all_s += stack->cost[PT_STACK_MAIN_CALL_S];
        calls.function_s += is_in_function(stack, function) ? stack->cost[PT_STACK_MAIN_CALL_S] : 0;
    }
    return calls;
}
