/* SPDX-License-Identifier: MIT
 *
 * record.h - what the recorders of all hook families share: results, paths, and descriptors that are opened and closed.
 */
#ifndef PT_HOOKS_RECORD_H
#define PT_HOOKS_RECORD_H

#include <errno.h>

#include "core/state.h"

/* errno of the call just made. It lies in thread-local storage: where that is not libc's it cannot be read, and EFAULT
 * stands for "read nothing that the caller passed". */
PT_ALWAYS_INLINE int pt_errno(void)
{
    return pt_local_is_ours() ? errno : EFAULT;
}

/* The result as an event stores it: the value, or minus errno. */
PT_ALWAYS_INLINE pt_i32 pt_result(long ret)
{
    return ret >= 0 ? (pt_i32)ret : -pt_errno();
}

PT_ALWAYS_INLINE pt_u64 pt_result_and(long ret, pt_u32 high)
{
    return pt_words((pt_u32)pt_result(ret), high);
}

/* A call that failed, or one that may succeed without a look at the path (utimensat): can the path be read? */
int pt_path_is_readable(const char *path);
int pt_path_of_failed_call_is_readable(const char *path);

/* May we read a path that the program passed? Where the call succeeded, the kernel has read it. */
PT_ALWAYS_INLINE int pt_path_was_read(long ret, const char *path)
{
    return pt_likely(ret >= 0) || pt_path_of_failed_call_is_readable(path);
}

/* A directory descriptor as a tag: AT_FDCWD is no descriptor. */
PT_ALWAYS_INLINE pt_i32 pt_dir_tag(int dir_fd)
{
    return dir_fd >= 0 ? dir_fd : -1;
}

/* Id of a path that the program passed, relative to `dir_fd` (AT_FDCWD: the working directory; -1: none of both); 0
 * when it must not be read. */
pt_u32 pt_path_id(long ret, int dir_fd, const char *path);

/* The same for an event that has no dir_path: absolute where it is relative to a descriptor. */
pt_u32 pt_whole_path_id(long ret, int dir_fd, const char *path);

/* Id of the file behind a name of shared memory (shm_open), whose slashes at the front libc skips. */
pt_u32 pt_shared_memory_id(long ret, const char *name);

/* Path of a directory descriptor as the event's dir_path: 0 when the path does not depend on it, "?" when nobody knows.
 */
pt_u32 pt_dir_id(long ret, int dir_fd, const char *path);

/* From now on the path of `fd` is `path`. */
void pt_fd_opened(int fd, pt_u32 path);

/* `fd` is about to be closed. Returns its path as the table has it, without asking the kernel: a program that closes
 * thousands of descriptors it never opened must not pay for each. Called before the real close: after it, another
 * thread may have been given the number. */
pt_u32 pt_fd_forget(int fd);

/* A vfork child is about to leave its parent's memory: its changes to its own descriptors do not hold for the parent.
 */
void pt_fd_vfork_child_leaves(void);

#endif
