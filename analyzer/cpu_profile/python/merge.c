/* SPDX-License-Identifier: MIT
 *
 * python/merge.c - Owns: where the frames of Python belong in a native stack. Threads: any. State: none. Never: makes a
 * stack deeper than PT_CPU_DEPTH_MAX.
 */
#include "merge.h"

#include <string.h>

#include "cpu_file/interpreter.h"

static bool is_interpreter(const struct pt_code_modules *modules, const struct pt_code_place *place)
{
    return place->module >= PT_CPU_MODULE__FIRST && place->module - PT_CPU_MODULE__FIRST < modules->used.n &&
           pt_is_interpreter(modules->used.items[place->module - PT_CPU_MODULE__FIRST]->path);
}

void pt_python_merge(const struct pt_code_modules *modules, const struct pt_python_stack *python,
                     struct pt_unwound *stack)
{
    pt_u32 first = stack->n, behind = stack->n;
    for (pt_u32 i = 0; i < stack->n; i++)
        if (is_interpreter(modules, &stack->frames[i])) {
            first = first == stack->n ? i : first;
            behind = i + 1;
        }
    if (first == stack->n && !stack->is_cut)
        return;
    /* A native stack that was not followed to its end says nothing about what is outside of Python. */
    const bool is_cut = python->is_cut;
    const pt_u32 n_outer = stack->is_cut ? 0 : stack->n - behind;
    const pt_u32 room = PT_CPU_DEPTH_MAX - first;
    const pt_u32 n_python = python->n < room ? python->n : room;
    const pt_u32 n_kept = n_python < python->n || is_cut ? 0 : n_outer < room - n_python ? n_outer : room - n_python;
    memmove(&stack->frames[first + n_python], &stack->frames[behind], n_kept * sizeof *stack->frames);
    for (pt_u32 i = 0; i < n_python; i++)
        stack->frames[first + i] = (struct pt_code_place){PT_CPU_MODULE_PYTHON, python->names[i]};
    stack->n = first + n_python + n_kept;
    stack->is_cut = is_cut || n_python < python->n;
}

static bool have_equal_calls(const struct pt_python_stack *python, const bool *is_loop, const struct pt_unwound *stack)
{
    pt_u32 n_native = 0, n_python = 0;
    for (pt_u32 i = 0; i < stack->n; i++)
        n_native += is_loop[i];
    for (pt_u32 i = 0; i < python->n; i++)
        n_python += python->was_entered[i];
    return n_native && n_native == n_python && !stack->is_cut && !python->is_cut;
}

bool pt_python_merge_all(const struct pt_code_modules *modules, const struct pt_python_stack *python,
                         const bool *is_loop, struct pt_unwound *stack)
{
    struct pt_unwound merged = {0};
    pt_u32 next = 0;
    if (!have_equal_calls(python, is_loop, stack))
        return false;
    for (pt_u32 i = 0; i < stack->n && merged.n < PT_CPU_DEPTH_MAX; i++) {
        bool is_in_call = is_loop[i];
        while (is_in_call && next < python->n && merged.n < PT_CPU_DEPTH_MAX) {
            is_in_call = !python->was_entered[next];
            merged.frames[merged.n++] = (struct pt_code_place){PT_CPU_MODULE_PYTHON, python->names[next++]};
        }
        /* How the interpreter gets from one function to the next says nothing. */
        if (!is_loop[i] && merged.n < PT_CPU_DEPTH_MAX && !is_interpreter(modules, &stack->frames[i]))
            merged.frames[merged.n++] = stack->frames[i];
    }
    merged.is_cut = merged.n == PT_CPU_DEPTH_MAX;
    *stack = merged;
    return true;
}
