/* SPDX-License-Identifier: MIT
 *
 * flame.h - the flame graphs of both runs as one: as wide as in B, with the colour of B - A.
 */
#ifndef PT_DIFF_FLAME_H
#define PT_DIFF_FLAME_H

#include "report/doc/doc.h"
#include "change.h"

/* NULL = B has no samples, or A none to hold against them. Texts are copied. */
struct pt_panel *pt_diff_flame(struct pt_doc *doc, const struct pt_stage_pair *pair);

#endif
