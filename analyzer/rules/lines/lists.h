/* SPDX-License-Identifier: MIT
 *
 * lists.h - what it costs to make tensors of Python's lists.
 */
#ifndef PT_RULES_LISTS_H
#define PT_RULES_LISTS_H

#include "own_lines.h"

/* Seconds of the training's main thread in all lines that do it; `ret_line`: the one that costs most, without a file
 * where there is none. */
double pt_tensors_of_lists_s(const struct pt_profile *profile, pt_i64 stage, struct pt_own_line *ret_line);

#endif
