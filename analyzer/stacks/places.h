/* SPDX-License-Identifier: MIT
 *
 * stacks/places.h - where in the program a thread is, in one short piece of text.
 */
#ifndef PT_STACKS_PLACES_H
#define PT_STACKS_PLACES_H

#include "util/str.h"
#include "types.h"

/* Where its author would look: the innermost function of Python that is no library's, else the innermost of Python,
 * else the innermost whose file is known. NULL = none is known. */
const struct pt_stack_line *pt_stack_place(const struct pt_look_thread *thread);
bool pt_stack_is_of_library(const struct pt_stack_line *line);
/* "load (train.py:12)" */
void pt_stack_put_place(struct pt_str *out, const struct pt_stack_line *place);
/* The beginning of a command line: a program that stands on it (python -c) is no line. */
void pt_stack_put_command(struct pt_str *out, const char *command);

#endif
