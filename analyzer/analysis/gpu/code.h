/* SPDX-License-Identifier: MIT
 *
 * gpu/code.h - to what cause of a GPU's idleness the code at a node of the CPU profile belongs.
 */
#ifndef PT_ANALYSIS_GPU_CODE_H
#define PT_ANALYSIS_GPU_CODE_H

#include "facts/cpu_names.h"
#include "causes.h"

/* It is our code; or below libc and the kernel lies a function of ours that is no hook: the trace was being written. */
bool pt_gpu_code_is_tracing(const struct pt_cpu_view *view, pt_u32 node);
/* Of code that ran; `function` is pt_cpu_view_function's. */
enum gpu_cause pt_gpu_code_cause(const struct pt_cpu_view *view, pt_u32 node, pt_u32 function);

#endif
