/* SPDX-License-Identifier: MIT
 *
 * stacks/text.h - what was seen of some processes, for people. Hostile names are cleaned for a terminal.
 */
#ifndef PT_STACKS_TEXT_H
#define PT_STACKS_TEXT_H

#include "util/str.h"
#include "types.h"

/* Conclusions first, then each process with its threads and their stacks. */
void pt_look_put(const struct pt_look *look, struct pt_str *out);
/* In one line why `pid` does not go on: the first conclusion, else what the thread does that its first thread waits for
 * in the end, and where. */
void pt_look_put_reason(const struct pt_look *look, pt_u32 pid, struct pt_str *out);

#endif
