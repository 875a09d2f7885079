/* SPDX-License-Identifier: MIT
 *
 * heap/stack_text.h - a recorded stack as text: "load (data.c:12) < main (train.c:80) < __libc_start_main", in Python
 * "data.py:41 Set.load < train.py:9 <module>; native: THPStorage_new (storage.cpp:7) < ...". Texts live as long as the
 * metrics.
 */
#ifndef PT_ANALYSIS_HEAP_STACK_TEXT_H
#define PT_ANALYSIS_HEAP_STACK_TEXT_H

#include "profile/profile.h"
#include "profile/stacks.h"
#include "symbols/symbols.h"
#include "sites.h"

struct pt_stack_text {
    const char *leaf;  /* the innermost frame that is not the allocator's own */
    const char *stack; /* from that frame outwards, at most a dozen frames */
};

/* The same as frames; returns how many. Those of Python come first, then the native ones that they called. */
pt_u32 pt_heap_frames(struct pt_profile *profile, const struct pt_heap_site *site,
                      struct pt_stack_frame ret_frames[PT_STACK_FRAMES]);

struct pt_stack_text pt_heap_stack_text(struct pt_profile *profile, const struct pt_heap_site *site);

#endif
