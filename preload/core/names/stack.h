/* SPDX-License-Identifier: MIT
 *
 * stack.h - the caller's native stack as an id.
 */
#ifndef PT_CORE_NAMES_STACK_H
#define PT_CORE_NAMES_STACK_H

#include "core/compiler.h"

/* 0 when stacks are off, the rate cap bites or it cannot be taken. */
pt_u32 pt_intern_stack(void);

#endif
