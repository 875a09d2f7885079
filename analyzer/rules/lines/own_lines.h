/* SPDX-License-Identifier: MIT
 *
 * own_lines.h - what the lines of the program's own code in Python cost, in sums that a rule chooses, and what they
 * call.
 */
#ifndef PT_RULES_OWN_LINES_H
#define PT_RULES_OWN_LINES_H

#include "rules/finding.h"

enum { PT_LINE_SUMS = 12 };

struct pt_own_line {
    const char *file, *function; /* interned: equal ones have equal addresses */
    pt_u32 line;
    double sums[PT_LINE_SUMS];
};

struct pt_own_lines {
    PT_VEC(struct pt_own_line);
};

/* Adds what a stack costs to the sums of the line that it belongs to. */
typedef void pt_line_adder(const struct pt_stack *stack, double sums[PT_LINE_SUMS]);

/* Of the innermost line of each stack that is the program's own, not a library's. To be freed. */
void pt_own_lines(const struct pt_profile *profile, pt_i64 stage, pt_line_adder *add, struct pt_own_lines *ret_lines);
void pt_own_lines_free(struct pt_own_lines *lines);

/* The finding is about that line: its place, and the stacks that it shows. */
void pt_finding_is_of_line(struct pt_finding *finding, const struct pt_own_line *line);

/* The innermost frame of a stack that is the program's own Python; NULL = none. */
const struct pt_stack_frame *pt_line_frame(const struct pt_stack *stack);

/* Parts of the names of a native function and of its library; of Python the end of a function's name, and a part of its
 * file's; NULL = any. A list of them is closed by one without function. A name with a class needs a file: before Python
 * 3.11 functions have names without, and "write" is many. */
struct pt_code_pattern {
    const char *file, *function;
};

/* Whether the program's line has called something like that: frames further out do not count. */
bool pt_line_calls(const struct pt_stack *stack, const struct pt_code_pattern *patterns);

#endif
