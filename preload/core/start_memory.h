/* SPDX-License-Identifier: MIT
 *
 * start_memory.h - one mapping for what a process needs while it starts. Four of them cost ten system calls, and each
 * is one more for the kernel to take down at the end.
 */
#ifndef PT_CORE_START_MEMORY_H
#define PT_CORE_START_MEMORY_H

#include "compiler.h"

/* To be called by the constructor; without it, or where the kernel refuses, each piece is a mapping of its own. */
void pt_start_memory_reserve(pt_u64 bytes);
/* The same for a forked child that has blocked signals and nothing of ours yet; always as many bytes. */
void pt_start_memory_reserve_forked(pt_u64 bytes);

/* Zeros, at the beginning of a page, as pt_sys_memory gives them: a piece may be unmapped by itself. When
 * all is used, or nothing was reserved, it is pt_sys_memory. */
void *pt_start_memory(pt_u64 bytes);

/* What is left over goes back to the kernel. */
void pt_start_memory_end(void);
/* is_in_use: all that was reserved stays until this process ends. */
void pt_start_memory_end_forked(int is_in_use);

PT_ALWAYS_INLINE pt_u64 pt_whole_pages(pt_u64 bytes)
{
    return (bytes + 4095) & ~4095ull;
}

#endif
