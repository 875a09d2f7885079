/* SPDX-License-Identifier: MIT
 *
 * growing.h - what is known of arrays that are made anew, larger each time.
 */
#ifndef PT_RULES_GROWING_H
#define PT_RULES_GROWING_H

#include "own_lines.h"

/* Bytes that the line allocates which copies most of them; 0 = there is none. */
double pt_growing_bytes(const struct pt_profile *profile, pt_i64 stage);

#endif
