/* SPDX-License-Identifier: MIT
 *
 * caller_search.h - who called code that no table describes: what a just-in-time compiler made, or was written by hand.
 */
#ifndef PT_CPU_PROFILE_CALLER_SEARCH_H
#define PT_CPU_PROFILE_CALLER_SEARCH_H

#include "frame.h"
#include "images.h"

struct pt_caller_search {
    struct pt_code_modules *modules;
    const struct pt_image *image;
    pt_u32 pid;
    const struct pt_stack_copy *stack;
};

/* Whether the return address lies on top of the stack: then a frame pointer would be the caller's, and lead past it. */
bool pt_caller_on_top(const struct pt_caller_search *search, struct pt_frame_regs *regs);
/* By the chain of frame pointers, where it leads to the instruction behind a call. */
enum pt_frame_step pt_caller_by_frame_pointer(const struct pt_caller_search *search, struct pt_frame_regs *regs);
/* The innermost frame of a file on the stack that made a call through a pointer, which is how such code is entered, and
 * from which tables lead on. Frames between may be left out: it is one that is on the stack, no matter how far out. */
enum pt_frame_step pt_caller_by_search(const struct pt_caller_search *search, struct pt_frame_regs *regs);

#endif
