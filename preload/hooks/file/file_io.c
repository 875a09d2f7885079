/* SPDX-License-Identifier: MIT
 *
 * file_io.c - hooks of the calls that take or give a descriptor.
 *
 * Entered by any thread of the host, in signal handlers, and in vfork children that run in their parent's memory. Holds
 * nothing across the real call (read may be cancelled or jumped out of) and never allocates, locks or writes errno.
 */
#include "file_io.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/names/fd_table.h"
#include "core/names/readable.h"
#include "core/file/presence.h"
#include "core/file/space.h"
#include "core/process.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "hooks/hook.h"

/* Descriptors that come to be another file: also followed for the names of streams, where only those are recorded. */
#define io_or_stdio io | pt_switches.stdio

/* The hot path, inlined: a hook of read must cost little more than its two clock readings. */
PT_ALWAYS_INLINE void moved(pt_u32 kind, pt_u64 start, pt_u64 end, int fd, long ret, pt_u64 detail)
{
    const pt_u32 path = pt_fd_path(fd);
    pt_spent(kind, start, end, fd, pt_result_and(ret, path), detail);
}

static PT_NOINLINE void done(pt_u32 kind, pt_u64 start, pt_u64 end, int fd, long ret, pt_u64 detail)
{
    moved(kind, start, end, fd, ret, detail);
}

/* preadv2 and pwritev2 with the offset -1 go on from the file's position, as readv and writev do. */
static PT_NOINLINE void moved_2(pt_u32 kind, pt_u64 start, pt_u64 end, int fd, long ret, long offset, int buffers)
{
    if (offset != -1)
        moved(kind, start, end, fd, ret, (pt_u64)offset);
    else
        moved(kind == PT_EV_io_preadv ? PT_EV_io_readv : PT_EV_io_writev, start, end, fd, ret, (pt_u64)buffers);
}

/* posix_fallocate and posix_fadvise return the error number itself. */
static PT_NOINLINE void done_or_error(pt_u32 kind, pt_u64 start, pt_u64 end, int fd, int error, pt_u64 detail)
{
    pt_spent(kind, start, end, fd, pt_words((pt_u32)-error, pt_fd_path(fd)), detail);
}

static pt_u64 flock_operation(int operation)
{
    return operation & LOCK_SH   ? PT_FILE_LOCK_SHARED
           : operation & LOCK_EX ? PT_FILE_LOCK_ALONE
           : operation & LOCK_UN ? PT_FILE_LOCK_RELEASED
                                 : PT_FILE_LOCK_UNKNOWN;
}

static pt_u64 lockf_operation(int command)
{
    return command == F_LOCK || command == F_TLOCK ? PT_FILE_LOCK_ALONE
           : command == F_ULOCK                    ? PT_FILE_LOCK_RELEASED
                                                   : PT_FILE_LOCK_UNKNOWN;
}

static PT_NOINLINE void locked(pt_u64 start, pt_u64 end, int fd, int ret, pt_u64 operation)
{
    if (ret == 0 && operation != PT_FILE_LOCK_RELEASED)
        pt_private_files_for_locks();
    done(PT_EV_io_lock, start, end, fd, ret, operation);
}

/* A path relative to a directory descriptor does not name the new descriptor, nor does the folder of a file without a
 * name: leave it to /proc, which has the full path. */
static PT_NOINLINE void opened(pt_u64 start, pt_u64 end, int dir_fd, const char *path, int flags, int ret)
{
    if (pt_unlikely(flags & O_TRUNC && ret >= 0))
        pt_file_look();
    const pt_u32 path_id = pt_path_id(ret, dir_fd, path);
    const pt_u32 dir_id = pt_dir_id(ret, dir_fd, path);
    pt_spent(PT_EV_io_open, start, end, ret, pt_result_and(ret, path_id), pt_words((pt_u32)flags, dir_id));
    pt_fd_opened(ret, dir_id || (flags & O_TMPFILE) == O_TMPFILE ? 0 : path_id);
}

/* openat2: { flags, mode, resolve }. With RESOLVE_IN_ROOT the directory is the root of the path, of links in it, too:
 * only the kernel knows which file that is. */
static PT_NOINLINE void opened_how(pt_u64 start, pt_u64 end, int dir_fd, const char *path, const pt_u64 *how, int ret)
{
    enum { IN_ROOT = 0x10 };
    struct pt_reader reader = {1};
    const int is_known =
        ret >= 0 || (pt_may_call() && pt_is_readable(&reader, &how[0]) && pt_is_readable(&reader, &how[2]));
    const int is_in_root = is_known && how[2] & IN_ROOT && pt_path_was_read(ret, path);
    while (is_in_root && path[0] == '/')
        path++;
    if (is_in_root && !path[0])
        path = ".";
    opened(start, end, dir_fd, path, is_known ? (int)how[0] : 0, ret);
    if (is_in_root)
        pt_fd_opened(ret, 0);
}

static PT_NOINLINE void opened_shared(pt_u64 start, pt_u64 end, const char *name, int flags, int ret)
{
    if (flags & O_TRUNC && ret >= 0)
        pt_file_look();
    const pt_u32 path_id = pt_shared_memory_id(ret, name);
    pt_spent(PT_EV_io_open, start, end, ret, pt_result_and(ret, path_id), pt_words((pt_u32)flags, 0));
    pt_fd_opened(ret, path_id);
}

static PT_NOINLINE void opened_temp(pt_u64 start, pt_u64 end, const char *path, int ret)
{
    const pt_u32 path_id = pt_path_id(ret, AT_FDCWD, path);
    pt_spent(PT_EV_io_open_temp, start, end, ret, pt_result_and(ret, path_id), 0);
    pt_fd_opened(ret, path_id);
}

static PT_NOINLINE void copied(pt_u64 start, pt_u64 end, int from, int to, long ret)
{
    const pt_u32 from_path = pt_fd_path(from);
    pt_spent(PT_EV_io_copy, start, end, from, pt_result_and(ret, from_path), pt_words(pt_fd_path(to), (pt_u32)to));
}

/* vmsplice: from memory into a pipe; at the end that is read from the kernel moves from the pipe into memory. */
static PT_NOINLINE void spliced(pt_u64 start, pt_u64 end, int fd, long ret)
{
    const long flags = ret >= 0 && pt_may_call() ? pt_syscall3(SYS_fcntl, fd, F_GETFL, 0) : O_WRONLY;
    const int reads = flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
    copied(start, end, reads ? fd : -1, reads ? -1 : fd, ret);
}

static PT_NOINLINE void seeked(pt_u64 start, pt_u64 end, int fd, int whence, long ret)
{
    const pt_i64 position = ret >= 0 ? ret : -pt_errno();
    pt_spent(PT_EV_io_seek, start, end, fd, (pt_u64)position, pt_words(pt_fd_path(fd), (pt_u32)whence));
}

static PT_NOINLINE void truncated(pt_u64 start, pt_u64 end, const char *path, int ret, pt_u64 length)
{
    pt_file_look(); /* it may be ours */
    pt_spent(PT_EV_io_truncate, start, end, -1, pt_result_and(ret, pt_path_id(ret, AT_FDCWD, path)), length);
}

static PT_NOINLINE void cut(pt_u64 start, pt_u64 end, int fd, int ret, pt_u64 length)
{
    pt_file_look();
    moved(PT_EV_io_truncate, start, end, fd, ret, length);
}

static PT_NOINLINE void duplicated(pt_u64 start, pt_u64 end, int fd, int ret)
{
    const pt_u32 path = ret >= 0 ? pt_fd_path(fd) : 0;
    if (pt_switches.io)
        pt_spent(PT_EV_io_dup, start, end, fd, pt_result_and(ret, path), 0);
    if (ret != fd)
        pt_fd_opened(ret, path);
}

#include "file_io.def"

PT_ALWAYS_INLINE int open_recorded(int (*real)(const char *, int, mode_t), const char *path, int flags, mode_t mode)
{
    if (pt_unlikely(!pt_switches.io))
        return real(path, flags, mode);
    const pt_u64 start = pt_clock();
    const int ret = real(path, flags, mode);
    opened(start, pt_clock(), AT_FDCWD, path, flags, ret);
    return ret;
}

int hook_open(const char *path, int flags, mode_t mode)
{
    return open_recorded(real_open, path, flags, mode);
}

int hook_open64(const char *path, int flags, mode_t mode)
{
    return open_recorded(real_open64, path, flags, mode);
}

int hook___open(const char *path, int flags, mode_t mode)
{
    return open_recorded(real___open, path, flags, mode);
}

int hook___open64(const char *path, int flags, mode_t mode)
{
    return open_recorded(real___open64, path, flags, mode);
}

PT_ALWAYS_INLINE int openat_recorded(int (*real)(int, const char *, int, mode_t), int dir, const char *path, int flags,
                                     mode_t mode)
{
    if (pt_unlikely(!pt_switches.io))
        return real(dir, path, flags, mode);
    const pt_u64 start = pt_clock();
    const int ret = real(dir, path, flags, mode);
    opened(start, pt_clock(), dir, path, flags, ret);
    return ret;
}

int hook_openat(int dir, const char *path, int flags, mode_t mode)
{
    return openat_recorded(real_openat, dir, path, flags, mode);
}

int hook_openat64(int dir, const char *path, int flags, mode_t mode)
{
    return openat_recorded(real_openat64, dir, path, flags, mode);
}

PT_ALWAYS_INLINE int close_recorded(int (*real)(int), int fd)
{
    if (pt_unlikely(!pt_switches.io)) {
        if (pt_switches.stdio)
            pt_fd_forget(fd);
        return real(fd);
    }
    const pt_u32 path = pt_fd_forget(fd);
    const pt_u64 start = pt_clock();
    const int ret = real(fd);
    pt_spent(PT_EV_io_close, start, pt_clock(), fd, pt_result_and(ret, path), 0);
    return ret;
}

int close(int fd)
{
    return close_recorded(real_close, fd);
}

int __close(int fd)
{
    return close_recorded(real___close, fd);
}

static void forget_range(unsigned first, unsigned last)
{
    if (first < pt_fd_table.size && first <= last && !pt_process_is_vfork_child())
        pt_fd_clear_range(first, last < pt_fd_table.size ? last : pt_fd_table.size - 1);
}

static void closed_range(pt_u64 start, pt_u64 end, unsigned first, unsigned last, int flags, int ret)
{
    if (ret == 0 && !(flags & (int)CLOSE_RANGE_CLOEXEC))
        forget_range(first, last);
    if (pt_switches.io)
        pt_spent(PT_EV_io_close_range, start, end, (pt_i32)first, pt_result_and(ret, last), 0);
}

int close_range(unsigned first, unsigned last, int flags)
{
    if (pt_unlikely(!(pt_switches.io_or_stdio)))
        return real_close_range(first, last, flags);
    const pt_u64 start = pt_clock();
    const int ret = real_close_range(first, last, flags);
    closed_range(start, pt_clock(), first, last, flags, ret);
    return ret;
}

void closefrom(int first)
{
    if (pt_unlikely(!(pt_switches.io_or_stdio))) {
        real_closefrom(first);
        return;
    }
    const pt_u64 start = pt_clock();
    real_closefrom(first);
    const pt_u64 end = pt_clock();
    forget_range(first > 0 ? (unsigned)first : 0, ~0u);
    if (pt_switches.io)
        pt_spent(PT_EV_io_close_range, start, end, first, pt_words(0, ~0u), 0);
}

void sync(void)
{
    if (pt_unlikely(!pt_switches.io)) {
        real_sync();
        return;
    }
    const pt_u64 start = pt_clock();
    real_sync();
    pt_spent(PT_EV_io_sync, start, pt_clock(), -1, 0, 0);
}

/* The range that fcntl locks lies in the program's memory, which is safe to read only if the kernel has read it: not
 * when the call failed early. */
static pt_u64 fcntl_operation(int ret, long argument)
{
    const int error = ret < 0 ? pt_errno() : 0;
    if (error && error != EINTR && error != EAGAIN && error != EACCES && error != EDEADLK)
        return 0;
    const short type = ((const struct flock *)argument)->l_type;
    return type == F_RDLCK ? PT_FILE_LOCK_SHARED : type == F_WRLCK ? PT_FILE_LOCK_ALONE : PT_FILE_LOCK_RELEASED;
}

static int copies(int command)
{
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC;
}

static int locks(int command)
{
    return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

static PT_NOINLINE void controlled(int command, pt_u64 start, pt_u64 end, int fd, int ret, long argument)
{
    if (copies(command))
        duplicated(start, end, fd, ret);
    else if (locks(command))
        locked(start, end, fd, ret, fcntl_operation(ret, argument));
}

PT_ALWAYS_INLINE int fcntl_recorded(int (*real)(int, int, long), int fd, int command, long argument)
{
    if (!(copies(command) && (pt_switches.io_or_stdio)) && !(locks(command) && pt_switches.io))
        return real(fd, command, argument);
    const pt_u64 start = pt_clock();
    const int ret = real(fd, command, argument);
    controlled(command, start, pt_clock(), fd, ret, argument);
    return ret;
}

int hook_fcntl(int fd, int command, long argument)
{
    return fcntl_recorded(real_fcntl, fd, command, argument);
}

int hook_fcntl64(int fd, int command, long argument)
{
    return fcntl_recorded(real_fcntl64, fd, command, argument);
}

int hook___fcntl(int fd, int command, long argument)
{
    return fcntl_recorded(real___fcntl, fd, command, argument);
}

void pt_io_made(const struct pt_raw_call *call)
{
    PT_RAW_ARGUMENTS(call);
    switch (call->number) {
#define RAW(number, record)                                                                                            \
    case SYS_##number:                                                                                                 \
        record;                                                                                                        \
        break;
#include "file_io_raw.def"
#undef RAW
    }
}

void pt_io_find_functions(void)
{
    PT_RESOLVE(close);
    PT_RESOLVE(dup2);
    PT_RESOLVE(read);
    PT_RESOLVE(write);
}
