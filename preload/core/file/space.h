/* SPDX-License-Identifier: MIT
 *
 * space.h - bytes of the trace file: growth without a descriptor that the program could see.
 *
 * All functions: signals blocked, on the private stack of an attached thread (or in the constructor).
 */
#ifndef PT_CORE_FILE_SPACE_H
#define PT_CORE_FILE_SPACE_H

#include <errno.h>

#include "core/compiler.h"

/* Run fn(argument) in a child that shares memory but has a descriptor table of its own (clone with CLONE_VM |
 * CLONE_VFORK and without CLONE_FILES), so that nothing it opens ever appears among the host's descriptors. In a
 * single-threaded process fn is called directly. Returns 0, or -1 when no child could be made. fn must use system calls
 * only, and 4 KiB of stack. */
int pt_private_files(void (*fn)(void *), void *argument);
/* The same for files of the program's, and for a thread that may have no private memory, or whose is in use: then on a
 * stack that ends there. */
int pt_private_files_on(char *spare_top, void (*fn)(void *), void *argument);
/* There is no run directory to tell by whether an untraced child finds the files: tell by that one. */
void pt_private_files_without_run(const char *known_file);
/* The program has locked a part of a file (fcntl, lockf): the kernel would take the lock from it where any descriptor
 * of that file is closed among its own. From now on its files are looked at in a child even if it has one thread. */
void pt_private_files_for_locks(void);

/* Charge `bytes` to the session's budget; -1 when it is used up. */
int pt_take_budget(pt_u64 bytes);
void pt_return_budget(pt_u64 bytes);

/* 0, or minus EFBIG: past RLIMIT_FSIZE fallocate raises SIGXFSZ, which would stay pending for the host, so look first.
 */
long pt_check_file_limit(pt_u64 end);
/* EDQUOT is of our own budget: a quota of the disk that is used up is as a full disk. */
static inline long pt_error_of_disk(long error)
{
    return error == -EDQUOT ? -ENOSPC : error;
}

/* Allocate a range of an open file; 0 or minus errno. ENOSPC also when less than 5 % of the file system is free. */
long pt_allocate(int fd, pt_u64 offset, pt_u64 bytes);

/* A range of the trace file, mapped. */
struct pt_space {
    void *map; /* NULL = there is none */
    pt_u64 offset;
    pt_u64 bytes;
};

/* Take `bytes` (whole pages) of new file space and map them, or half of it, down to `least`; none when limits or the
 * disk refuse. */
struct pt_space pt_space_grow(pt_u64 bytes, pt_u64 least);
/* Would so much be refused without a new attempt? */
int pt_space_is_refused(pt_u64 bytes);
/* So much was, for this reason (minus errno). */
void pt_space_note_refusal(pt_u64 bytes, long error);
/* Map a range that is there already; NULL when that cannot be. */
void *pt_space_map(pt_u64 offset, pt_u64 bytes);
/* A mapped range that no forked child gets: each of a chain of forks would keep its parents'. Only for what nobody
 * touches but on a private stack with signals blocked: a signal handler that forks may return, in the child, into the
 * middle of a store. */
void pt_space_leave_to_none(void *map, pt_u64 bytes);

#endif
