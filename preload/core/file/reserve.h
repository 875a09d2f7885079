/* SPDX-License-Identifier: MIT
 *
 * reserve.h - room for a process that will not be able to open a file any more: in its own, and in some for its
 * children.
 */
#ifndef PT_CORE_FILE_RESERVE_H
#define PT_CORE_FILE_RESERVE_H

#include "core/compiler.h"

#pragma GCC visibility push(hidden)
/* Before the process gives up its user or its root directory, once. In a child that has descriptors of its own (see
 * pt_private_files). */
void pt_reserve_make(void *unused);

/* Has this process, or one that it was forked from, come to that point? */
int pt_reserve_was_needed(void);

/* In a forked child: a file that was made for it then, of which the first `bytes` are allocated. NULL = there is none
 * left, or no space. */
char *pt_reserve_take_file(pt_u64 bytes);

/* The bytes of the file at `offset`, allocated and mapped; NULL = not here. *ret_error is 0, or what the kernel said
 * about the disk. */
void *pt_reserve_grow(pt_u64 offset, pt_u64 bytes, long *ret_error);

/* The bytes at `offset`, which the file has; NULL = not here. */
void *pt_reserve_at(pt_u64 offset, pt_u64 bytes);

/* Give back what pt_space_map or pt_space_grow mapped. */
void pt_reserve_unmap(void *map, pt_u64 bytes);
#pragma GCC visibility pop

#endif
