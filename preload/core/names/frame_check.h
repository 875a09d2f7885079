/* SPDX-License-Identifier: MIT
 *
 * frame_check.h - may the unwinder step out of this frame, or would it read where nothing is mapped?
 */
#ifndef PT_CORE_NAMES_FRAME_CHECK_H
#define PT_CORE_NAMES_FRAME_CHECK_H

#include <unwind.h>

#include "core/private.h"

struct pt_frame_check {
    struct pt_frame_rule *known; /* PT_FRAME_RULES of the thread's */
    pt_u64 page;                 /* the last one that was found readable */
};

/* 1 when all that the step out of `context` reads is there. Private stack, not frozen. */
int pt_frame_is_safe(struct pt_frame_check *check, struct _Unwind_Context *context);

#endif
