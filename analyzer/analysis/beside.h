/* SPDX-License-Identifier: MIT
 *
 * beside.h - a thread that looks at the same events as the caller, at the same time.
 */
#ifndef PT_ANALYSIS_BESIDE_H
#define PT_ANALYSIS_BESIDE_H

#include "../decode/event.h"

typedef void pt_look_fn(void *state, const struct pt_event *events, pt_u32 n);

struct pt_beside;

/* NULL where no thread can be had. */
struct pt_beside *pt_beside_begin(pt_look_fn *look, void *state);
/* Have these looked at. They must stay as they are until the wait that follows comes back. */
void pt_beside_give(struct pt_beside *beside, const struct pt_event *events, pt_u32 n);
void pt_beside_wait(struct pt_beside *beside);
void pt_beside_end(struct pt_beside *beside);

#endif
