/* SPDX-License-Identifier: MIT
 *
 * unwind.h - the stack of a sample, from its registers and the copy of the top of its stack.
 */
#ifndef PT_CPU_PROFILE_UNWIND_H
#define PT_CPU_PROFILE_UNWIND_H

#include "cpu_file/format.h"
#include "images.h"
#include "perf_rings.h"

/* Innermost first. Addresses are those of the module's file; without a module, of memory. */
struct pt_code_place {
    pt_u32 module; /* PT_CPU_MODULE_UNKNOWN or the number of one */
    pt_u64 address;
};

struct pt_unwound {
    struct pt_code_place frames[PT_CPU_DEPTH_MAX];
    pt_u32 n;
    bool is_cut; /* what called the last one was not found */
};

void pt_unwind(struct pt_code_modules *modules, const struct pt_image *image, pt_u32 pid,
               const struct pt_perf_sample *sample, struct pt_unwound *ret_stack);

#endif
