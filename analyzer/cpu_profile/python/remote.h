/* SPDX-License-Identifier: MIT
 *
 * python/remote.h - the memory of another process, read while it runs: it may change between two reads, and an address
 * may be anything.
 */
#ifndef PT_CPU_PROFILE_PYTHON_REMOTE_H
#define PT_CPU_PROFILE_PYTHON_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "proftrace/types.h"

enum { PT_REMOTE_PAGE_BYTES = 4096, PT_REMOTE_PIECES_MAX = 192 };

/* What is asked for, together with what lies before it: frames of Python lie behind their callers'. */
struct pt_remote_window {
    pt_u64 start;
    pt_u32 n_bytes; /* 0 = nothing was read yet */
    pt_u8 bytes[3 * PT_REMOTE_PAGE_BYTES];
};

/* False, with errno, when not all of it can be read. */
bool pt_remote_read(pt_u32 pid, pt_u64 address, void *ret_bytes, size_t n);
/* Pieces of equal size, one after the other, with one call. Returns how many of them are whole. */
pt_u32 pt_remote_gather(pt_u32 pid, const pt_u64 *addresses, pt_u32 n, size_t piece_bytes, void *ret_bytes);
/* `n` bytes at an address, less than a page; NULL = they cannot be read. Valid until the next call. */
const pt_u8 *pt_remote_look(struct pt_remote_window *window, pt_u32 pid, pt_u64 address, size_t n);

#endif
