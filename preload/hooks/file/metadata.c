/* SPDX-License-Identifier: MIT
 *
 * metadata.c - hooks of the calls that ask about files or change their names and attributes.
 *
 * Entered by any thread of the host, in signal handlers and vfork children. All rows are uniform; the recorders below
 * are out of line, because these calls take microseconds and their hooks should stay small. Never reads a path that the
 * kernel refused to read.
 */
#include "metadata.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "core/names/fd_table.h"
#include "core/names/path.h"
#include "hooks/hook.h"

static int is_empty(long ret, const char *path)
{
    return !path || (pt_path_was_read(ret, path) && !path[0]);
}

/* A path, perhaps relative to a directory descriptor, and one more word (mode or flags). */
static PT_NOINLINE void named(pt_u32 kind, pt_u64 start, pt_u64 end, int dir, const char *path, pt_u32 word, long ret)
{
    const pt_u32 path_id = pt_path_id(ret, dir, path);
    const pt_u32 dir_id = pt_dir_id(ret, dir, path);
    pt_spent(kind, start, end, pt_dir_tag(dir), pt_result_and(ret, path_id), pt_words(dir_id, word));
}

static PT_NOINLINE void unlinked_shared(pt_u64 start, pt_u64 end, const char *name, int ret)
{
    pt_spent(PT_EV_meta_unlink, start, end, -1, pt_result_and(ret, pt_shared_memory_id(ret, name)), 0);
}

static PT_NOINLINE void asked_fd(pt_u64 start, pt_u64 end, int fd, int ret)
{
    const pt_u32 path = pt_fd_path(fd);
    pt_spent(PT_EV_meta_stat, start, end, fd, pt_result_and(ret, path), pt_words(0, AT_EMPTY_PATH));
}

/* fstatat(fd, "", AT_EMPTY_PATH) is the same as fstat. */
static PT_NOINLINE void asked(pt_u64 start, pt_u64 end, int dir, const char *path, int flags, int ret)
{
    if (ret == 0 && dir >= 0 && (flags & AT_EMPTY_PATH) && is_empty(ret, path))
        asked_fd(start, end, dir, ret);
    else
        named(PT_EV_meta_stat, start, end, dir, path, (pt_u32)flags, ret);
}

struct name {
    int dir;
    const char *path;
};

/* A call that fails for its first name has not read the second. */
static pt_u32 second_name_id(struct name name, int ret)
{
    return ret >= 0 || pt_path_is_readable(name.path) ? pt_whole_path_id(0, name.dir, name.path) : 0;
}

static PT_NOINLINE void two_names(pt_u32 kind, pt_u64 start, pt_u64 end, struct name from, struct name to, int ret)
{
    const pt_u32 from_id = pt_whole_path_id(ret, from.dir, from.path);
    pt_spent(kind, start, end, 0, pt_result_and(ret, from_id), pt_words(second_name_id(to, ret), 0));
}

/* The target is relative to where the link lies, if to anything. */
static PT_NOINLINE void linked(pt_u64 start, pt_u64 end, const char *target, int dir, const char *path, int ret)
{
    two_names(PT_EV_meta_link, start, end, (struct name){-1, target}, (struct name){dir, path}, ret);
}

static PT_NOINLINE void by_path(pt_u32 kind, pt_u64 start, pt_u64 end, const char *path, long ret)
{
    pt_spent(kind, start, end, -1, pt_result_and(ret, pt_path_id(ret, AT_FDCWD, path)), 0);
}

/* Where it was to go, or where it is: a name that is relative to where it was says nothing any more. */
static PT_NOINLINE void changed_dir(pt_u64 start, pt_u64 end, const char *path, int ret)
{
    const int is_there = ret == 0 && pt_path_moved();
    by_path(PT_EV_meta_change_dir, start, end, is_there && path[0] != '/' ? "." : path, ret);
}

static PT_NOINLINE void by_fd(pt_u32 kind, pt_u64 start, pt_u64 end, int fd, long ret)
{
    pt_spent(kind, start, end, fd, pt_result_and(ret, pt_fd_path(fd)), 0);
}

static PT_NOINLINE void changed_dir_to(pt_u64 start, pt_u64 end, int fd, int ret)
{
    if (ret == 0)
        pt_path_moved();
    by_fd(PT_EV_meta_change_dir, start, end, fd, ret);
}

/* Events without a dir_path field: the descriptor is the tag, and a call without a path means the descriptor itself. */
static PT_NOINLINE void by_path_at(pt_u32 kind, pt_u64 start, pt_u64 end, int dir, const char *path, long ret)
{
    const pt_u32 path_id = is_empty(ret, path) ? pt_fd_path(dir) : pt_whole_path_id(ret, dir, path);
    pt_spent(kind, start, end, pt_dir_tag(dir), pt_result_and(ret, path_id), 0);
}

/* When neither time is to change, the kernel says yes without a look at the path. */
static PT_NOINLINE void set_times(pt_u64 start, pt_u64 end, int dir, const char *path, const struct timespec *times,
                                  int ret)
{
    const int is_unread = ret == 0 && path && times && times[0].tv_nsec == UTIME_OMIT && times[1].tv_nsec == UTIME_OMIT;
    if (is_unread && !pt_path_is_readable(path))
        pt_spent(PT_EV_meta_set_attr, start, end, pt_dir_tag(dir), 0, 0);
    else
        by_path_at(PT_EV_meta_set_attr, start, end, dir, path, ret);
}

#include "metadata.def"

void pt_meta_made(const struct pt_raw_call *call)
{
    PT_RAW_ARGUMENTS(call);
    switch (call->number) {
#define RAW(number, record)                                                                                            \
    case SYS_##number:                                                                                                 \
        record;                                                                                                        \
        break;
#include "metadata_raw.def"
#undef RAW
    }
}
