/* SPDX-License-Identifier: MIT
 *
 * cpu/behind_steps.h - what a training does behind the backward pass of each step. For inline_loading.c only.
 */
#ifndef PT_ANALYSIS_CPU_BEHIND_STEPS_H
#define PT_ANALYSIS_CPU_BEHIND_STEPS_H

#include "facts/cpu_names.h"
#include "training_code.h"

/* Sets PT_IN_BEHIND, where the codes have all else: of what is called in a line behind that of the backward pass, in
 * the same function, whoever's that is. */
void pt_mark_behind_steps(const struct pt_cpu_view *view, pt_u16 *codes);

#endif
