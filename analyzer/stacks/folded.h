/* SPDX-License-Identifier: MIT
 *
 * stacks/folded.h - threads that are at the same place are told once: for reports of what did not go on.
 */
#ifndef PT_STACKS_FOLDED_H
#define PT_STACKS_FOLDED_H

#include "util/str.h"
#include "types.h"

/* Equal stacks once, those of most threads first, at most `most` lines; names are cleaned for a terminal. */
void pt_look_put_folded(const struct pt_look *look, size_t most, struct pt_str *out);

#endif
