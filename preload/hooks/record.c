/* SPDX-License-Identifier: MIT
 *
 * record.c - paths that the program passed as ids, and the table of descriptors as calls change it.
 *
 * Entered by any thread of the host after (a close: before) the real call, in signal handlers and in vfork children.
 * Never reads a path that cannot be read, and never asks the kernel about a descriptor that is closed.
 */
#include "record.h"

#include <fcntl.h>
#include <limits.h>

#include "core/file/image_state.h"
#include "core/names/fd_table.h"
#include "core/names/intern.h"
#include "core/names/path.h"
#include "core/names/readable.h"
#include "core/sandbox.h"
#include "core/sys.h"

int pt_path_is_readable(const char *path)
{
    struct pt_reader reader = {1};
    return pt_may_call() && pt_readable_length(&reader, path, PATH_MAX) >= 0;
}

/* The first four are answers of a look-up, and come often; no path is read for the next three. Any other may come from
 * a check before the path was read: of rights (mknod), of the other arguments (setxattr), by a filter of the host. */
int pt_path_of_failed_call_is_readable(const char *path)
{
    switch (pt_errno()) {
    case ENOENT:
    case ENOTDIR:
    case EEXIST:
    case ENODATA:
        return 1;
    case EFAULT:
    case EINVAL:
    case ENOSYS:
        return 0;
    default:
        return pt_path_is_readable(path);
    }
}

pt_u32 pt_path_id(long ret, int dir_fd, const char *path)
{
    if (!pt_path_was_read(ret, path))
        return 0;
    return dir_fd == AT_FDCWD ? pt_intern_path(path) : pt_intern_string(path);
}

pt_u32 pt_whole_path_id(long ret, int dir_fd, const char *path)
{
    if (dir_fd < 0 || !pt_path_was_read(ret, path))
        return pt_path_id(ret, dir_fd, path);
    return pt_intern_path_at(dir_fd, path);
}

pt_u32 pt_shared_memory_id(long ret, const char *name)
{
    if (!pt_path_was_read(ret, name))
        return 0;
    while (*name == '/')
        name++;
    return pt_intern_path_in("/dev/shm/", name);
}

pt_u32 pt_dir_id(long ret, int dir_fd, const char *path)
{
    if (dir_fd < 0 || !pt_path_was_read(ret, path) || (path && path[0] == '/'))
        return 0;
    const int has_place = (unsigned)dir_fd < pt_fd_table.size; /* beyond the table the kernel is asked each time */
    const pt_u32 id = has_place ? pt_fd_path(dir_fd) : pt_fd_resolve(dir_fd);
    return id ? id : pt_intern_string("?"); /* 0 would be the working directory */
}

/* The descriptors whose entries changed last. A vfork child has descriptors of its own but writes into its parent's
 * table; asking "am I one?" costs a system call, too much for each open. So the child's exec or exit, and each time
 * that half of the list is new, ask, and empty the entries that the child may have changed; the parent asks /proc about
 * them again. A race only empties more entries than needed. */
#define CHANGES 256u
static unsigned short changes[CHANGES];
static pt_u32 n_changes;

void pt_fd_vfork_child_leaves(void)
{
    for (pt_u32 i = 0; i < CHANGES && i < __atomic_load_n(&n_changes, __ATOMIC_RELAXED); i++)
        pt_fd_clear(__atomic_load_n(&changes[i], __ATOMIC_RELAXED));
}

static PT_NOINLINE void half_is_new(void)
{
    if (pt_sandbox_is_of_vfork_child() ||
        (pt_image && pt_may_call() && (pt_u32)pt_syscall0(SYS_getpid) != pt_image->pid))
        pt_fd_vfork_child_leaves();
}

static void note_change(int fd)
{
    const pt_u32 n = __atomic_load_n(&n_changes, __ATOMIC_RELAXED);
    __atomic_store_n(&changes[n % CHANGES], (unsigned short)fd, __ATOMIC_RELAXED);
    __atomic_store_n(&n_changes, n + 1, __ATOMIC_RELAXED);
    if (pt_unlikely((n + 1) % (CHANGES / 2) == 0))
        half_is_new();
}

void pt_fd_opened(int fd, pt_u32 path)
{
    if ((unsigned)fd >= pt_fd_table.size)
        return;
    pt_fd_set(fd, path);
    note_change(fd);
}

pt_u32 pt_fd_forget(int fd)
{
    if ((unsigned)fd >= pt_fd_table.size)
        return 0;
    const pt_u32 path = pt_fd_table.paths[fd];
    if (path) {
        pt_fd_clear(fd);
        note_change(fd);
    }
    return path;
}
