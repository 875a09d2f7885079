/* SPDX-License-Identifier: MIT
 *
 * stacks/outside.h - the CPython of a process that does not say where it is, found from its exported symbols.
 */
#ifndef PT_STACKS_OUTSIDE_H
#define PT_STACKS_OUTSIDE_H

#include "types.h"

/* From then on its stacks can be asked of process->pythons. Otherwise process->why_no_python says why not. */
void pt_outside_find_python(struct pt_look *look, struct pt_look_process *process);

#endif
