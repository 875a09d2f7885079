/* SPDX-License-Identifier: MIT
 *
 * space.h - bytes of the trace file: growth without a descriptor that another thread could meet, and the ring of
 * blocks.
 *
 * All functions: signals blocked, on the private stack of an attached thread (or in the constructor).
 */
#ifndef PT_CORE_FILE_SPACE_H
#define PT_CORE_FILE_SPACE_H

#include "image.h"

/* Run fn(argument) in a child that shares memory but has a descriptor table of its own (clone with CLONE_VM |
 * CLONE_VFORK and without CLONE_FILES), so that nothing it opens ever appears among the host's descriptors. In a
 * single-threaded process fn is called directly. Returns 0, or -1 when no child could be made. fn must use system calls
 * only, and 4 KiB of stack. */
int pt_private_files(void (*fn)(void *), void *argument);

/* Charge `bytes` to the session's budget; -1 when it is used up. */
int pt_take_budget(pt_u64 bytes);
void pt_return_budget(pt_u64 bytes);
/* 0, or minus ENOSPC when less than 5 % of the file system is free. */
long pt_check_free_space(int fd);

/* Take `bytes` (whole pages) of new file space and map them, or half of it, down to `least`; NULL when limits or the
 * disk refuse. */
void *pt_space_grow(pt_u64 bytes, pt_u64 least, pt_u64 *ret_bytes);
/* The thread's next BLOCKS segment, new or recycled, set up and current; -1 when there is none. */
int pt_ring_next(struct pt_tracer_thread *t);
/* Make sure that the calling thread has a BLOCKS segment: soon the file cannot be opened any more. Callable anywhere.
 */
void pt_ring_prepare(void);
/* Room for a definition of `bytes` in the thread's definition space; NULL when there is none. Callable anywhere. */
void *pt_defs_reserve(struct pt_tracer_thread *t, pt_u64 bytes);

#endif
