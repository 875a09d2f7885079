/* SPDX-License-Identifier: MIT
 *
 * stack.h - the calling thread's Python stack as an id.
 */
#ifndef PT_PYTHON_STACK_H
#define PT_PYTHON_STACK_H

#include "proftrace/python_walk.h"

/* From here on stacks are taken, by this layout. `own_file` is the str that the code of our scripts has for its file:
 * their frames are left out. */
void pt_python_stack_start(const struct pt_python_header *python, void *own_file);
/* Leave them out again: the interpreter goes, or has changed. */
void pt_python_stack_stop(void);

/* Id of the stack; 0 = this thread runs no Python. About 0.2 us; needs no GIL. Only in a call that the thread made. */
pt_u32 pt_python_stack(void);

#endif
