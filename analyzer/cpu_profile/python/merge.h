/* SPDX-License-Identifier: MIT
 *
 * python/merge.h - one stack of the two that a thread has: the native one, where the interpreter's own frames stand for
 * functions of Python, and that of Python.
 */
#ifndef PT_CPU_PROFILE_PYTHON_MERGE_H
#define PT_CPU_PROFILE_PYTHON_MERGE_H

#include "cpu_profile/unwind.h"
#include "stacks.h"

/* All frames of Python take the place of the interpreter's frames, the first to the last: what these called stays
 * inside, what called them outside. What a library between them did is not shown: since 3.11 no frame says which
 * functions of Python belong to which call of the interpreter. A stack that never was in the interpreter stays as it
 * is, unless its callers are unknown. */
void pt_python_merge(const struct pt_code_modules *modules, const struct pt_python_stack *python,
                     struct pt_unwound *stack);

/* The same with what libraries did between functions of Python (qsort calls back): `is_loop` says of each native frame
 * whether it is the interpreter's loop, of which a call runs one or several functions. False, and nothing is done: the
 * two stacks do not have as many such calls, or one of them is cut. */
bool pt_python_merge_all(const struct pt_code_modules *modules, const struct pt_python_stack *python,
                         const bool *is_loop, struct pt_unwound *stack);

#endif
