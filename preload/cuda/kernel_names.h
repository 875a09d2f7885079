/* SPDX-License-Identifier: MIT
 *
 * kernel_names.h - the name of a kernel by its host function or handle, as the program's modules registered it.
 */
#ifndef PT_CUDA_KERNEL_NAMES_H
#define PT_CUDA_KERNEL_NAMES_H

#include "core/compiler.h"

/* Id of the mangled name; 0 when it was never registered. */
pt_u32 pt_kernel_name(const void *function);

#endif
