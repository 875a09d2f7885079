/* SPDX-License-Identifier: MIT
 *
 * hook.h - how a libc function is interposed.
 *
 * A uniform hook is one row in <family>.def:
 *
 *     HOOK(ssize_t, read, (int fd, void *buffer, size_t count), (fd, buffer, count), io,
 *          pt_io_transfer(PT_EV_io_read, start, fd, ret, count))
 *
 *     return type, function, parameters, arguments, switch (io, stdio, user ...), what to record: an expression that
 * may use `start` and `end` (counter before and after the call), `ret`, and the parameters.
 *
 * A hook with a body of its own is a CUSTOM row (return type, function, parameters, arguments) and a function in
 * <family>.c that calls real_<function>.
 *
 * Rules: the real function is called exactly once with exactly the caller's arguments; nothing is held across it (it
 * may be cancelled or jumped out of); user memory is read only after the real function accepted it; errno is read,
 * never written.
 */
#ifndef PT_HOOKS_HOOK_H
#define PT_HOOKS_HOOK_H

#include <errno.h>

#include "core/emit.h"
#include "core/real.h"

#define HOOK(type, name, parameters, arguments, enabled, record)                                                       \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type name parameters; /* __read_chk and kin are in no header */                                          \
    PT_EXPORT type name parameters                                                                                     \
    {                                                                                                                  \
        if (pt_unlikely(!pt_switches.enabled))                                                                         \
            return real_##name arguments;                                                                              \
        const pt_u64 start = pt_clock();                                                                               \
        type const ret = real_##name arguments;                                                                        \
        const pt_u64 end = pt_clock();                                                                                 \
        record;                                                                                                        \
        return ret;                                                                                                    \
    }

#define CUSTOM(type, name, parameters, arguments)                                                                      \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type name parameters;

/* A CUSTOM row whose prototype in the headers is in the way; the body is called hook_<name>. Variadic functions: ours
 * takes the registers that the ABI would pass and forwards them raw, which is the same call on x86-64 and needs no
 * knowledge of when the argument is there. Functions declared nonnull, where a host may still pass NULL and expect an
 * error. */
#define CUSTOM_RAW(type, name, parameters, arguments)                                                                  \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type hook_##name parameters __asm__(#name);

/* What an event stores for a result: the value, or minus errno. */
PT_ALWAYS_INLINE pt_i32 pt_result(long ret)
{
    return ret >= 0 ? (pt_i32)ret : -errno;
}

PT_ALWAYS_INLINE pt_u64 pt_result_and(long ret, pt_u32 high)
{
    return pt_words((pt_u32)pt_result(ret), high);
}

/* May we read a path that the program passed? Only when the kernel has read it: EFAULT says that it could not, EINVAL
 * and ENOSYS may come before it looked. */
PT_ALWAYS_INLINE int pt_path_was_read(long ret)
{
    return pt_likely(ret >= 0) || (errno != EFAULT && errno != EINVAL && errno != ENOSYS);
}

/* Id of a path that the program passed; 0 when it must not be read. */
pt_u32 pt_path_id(long ret, const char *path);

/* Path of a directory descriptor as the event's dir_path: 0 when the path does not depend on it. */
pt_u32 pt_dir_id(long ret, int dir_fd, const char *path);

/* A directory descriptor as a tag: AT_FDCWD is no descriptor. */
PT_ALWAYS_INLINE pt_i32 pt_dir_tag(int dir_fd)
{
    return dir_fd >= 0 ? dir_fd : -1;
}

/* `fd` stands for `path` from now on. */
void pt_fd_opened(int fd, pt_u32 path);

/* `fd` is about to be closed. Returns its path as the table has it, without asking the kernel: a program that closes
 * thousands of descriptors it never opened must not pay for each. Called before the real close: after it, another
 * thread may have been given the number. */
pt_u32 pt_fd_forget(int fd);

/* A vfork child is about to leave its parent's memory: what it did to its own descriptors is not true of the parent's.
 */
void pt_fd_vfork_child_leaves(void);

#endif
