/* SPDX-License-Identifier: MIT
 *
 * facts/cpu_code.h - what the code at a node of the CPU profile does: for Python or not, allocating, mapping a page
 * that was missing, or tracing.
 */
#ifndef PT_FACTS_CPU_CODE_H
#define PT_FACTS_CPU_CODE_H

#include "profile/stacks.h"
#include "cpu_names.h"
#include "python/owner.h"

/* The innermost frame that is not libc's, the kernel's, or our hook's; the frame itself where there is none. May be
 * NULL: the line of it that called what is left out; 0 = unknown, or nothing is left out. */
pt_u32 pt_cpu_program_frame(const struct pt_cpu_view *view, pt_u32 frame, pt_u32 *ret_line);
/* The innermost function that is not the kernel's. */
pt_u32 pt_cpu_function_at(const struct pt_cpu_view *view, pt_u32 node);

/* What the frames of Python from one to the outermost say of their program, and whose one of them is. */
struct pt_python_program pt_cpu_program_of(const struct pt_cpu_view *view, pt_u32 frame);
enum pt_python_owner pt_cpu_python_owner(const struct pt_cpu_view *view, const struct pt_python_program *program,
                                         pt_u32 frame);

/* A frame and what called it; returns how many. */
pt_u32 pt_cpu_stack(const struct pt_cpu_view *view, pt_u32 frame, struct pt_stack_frame ret_frames[PT_STACK_FRAMES]);

/* The interpreter runs, or what serves it. */
static inline bool pt_cpu_runs_python(const struct pt_cpu_view *view, pt_u32 node)
{
    return view->runs_python[node];
}
/* It is in an allocator's function, or in what one calls; or it maps memory. */
bool pt_cpu_allocates(const struct pt_cpu_view *view, pt_u32 node);
/* The kernel maps a page that was missing: no system call. */
bool pt_cpu_is_page_fault(const struct pt_cpu_view *view, pt_u32 node);
/* It is our code, or the kernel's for it; or what called libc is ours and no hook: the trace was being written. */
bool pt_cpu_is_tracing(const struct pt_cpu_view *view, pt_u32 node);

#endif
