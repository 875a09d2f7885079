/* SPDX-License-Identifier: MIT
 *
 * front_svg.h - quality against cost as a drawing: a dot for each run, and a line through those that no other beats.
 */
#ifndef PT_COMPARE_FRONT_SVG_H
#define PT_COMPARE_FRONT_SVG_H

#include "util/str.h"
#include "compare.h"

/* -1: fewer than two runs have both. */
int pt_front_svg(const struct pt_comparison *comparison, struct pt_str *out, struct pt_error *err);

#endif
