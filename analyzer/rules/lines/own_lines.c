/* SPDX-License-Identifier: MIT
 *
 * Owns: sums over the stacks of each of the program's own lines of Python. Threads: one. Never: gives a line what
 * another own line calls.
 */
#include "own_lines.h"

#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"

const struct pt_stack_frame *pt_line_frame(const struct pt_stack *stack)
{
    const struct pt_stack_frame *frame = pt_python_own_frame(stack->frames, stack->n);
    return frame && frame->file && !(frame->flags & PT_FRAME_SERVES) ? frame : NULL;
}

/* Of a few hundred stacks. */
static struct pt_own_line *line_of(struct pt_own_lines *lines, const struct pt_stack_frame *frame)
{
    for (size_t i = 0; i < lines->n; i++)
        if (lines->items[i].file == frame->file && lines->items[i].line == frame->line)
            return &lines->items[i];
    pt_vec_push(lines, ((struct pt_own_line){.file = frame->file, .function = frame->function, .line = frame->line}));
    return &lines->items[lines->n - 1];
}

void pt_own_lines(const struct pt_profile *profile, pt_i64 stage, pt_line_adder *add, struct pt_own_lines *ret_lines)
{
    *ret_lines = (struct pt_own_lines){0};
    for (size_t i = 0; i < profile->stacks.n; i++) {
        const struct pt_stack *stack = &profile->stacks.items[i];
        const struct pt_stack_frame *frame = (pt_i64)stack->stage == stage ? pt_line_frame(stack) : NULL;
        if (frame)
            add(stack, line_of(ret_lines, frame)->sums);
    }
}

void pt_own_lines_free(struct pt_own_lines *lines)
{
    free(lines->items);
    *lines = (struct pt_own_lines){0};
}

void pt_finding_is_of_line(struct pt_finding *finding, const struct pt_own_line *line)
{
    finding->in_function = line->function;
    finding->in_file = line->file;
    finding->in_line = line->line;
}

/* Of Python's functions, which all have a name, it is the end: get_values_for_csv writes a table, _get_values takes
 * rows of one. */
static bool is_like(const struct pt_stack_frame *frame, const struct pt_code_pattern *pattern)
{
    if (frame->flags & PT_FRAME_OF_PYTHON)
        return pt_python_is_function(frame, pattern->file ? pattern->file : "", pattern->function);
    return strstr(frame->function, pattern->function) &&
           (!pattern->file || (frame->module && strstr(frame->module, pattern->file)));
}

bool pt_line_calls(const struct pt_stack *stack, const struct pt_code_pattern *patterns)
{
    const struct pt_stack_frame *own = pt_line_frame(stack);
    for (const struct pt_stack_frame *frame = stack->frames; frame < stack->frames + stack->n && frame != own; frame++)
        for (const struct pt_code_pattern *pattern = patterns; pattern->function; pattern++)
            if (is_like(frame, pattern))
                return true;
    return false;
}
