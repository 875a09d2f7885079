/* SPDX-License-Identifier: MIT
 *
 * directory.c - hooks of directory streams, and of walks that change the directory inside libc.
 *
 * An event per readdir would cost more than the call: entries are counted, and one event per stream, stored when it is
 * closed, has their number. Entered by any thread of the host. Never reads a clock per entry.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <fts.h>

#include "core/file/attach.h"
#include "core/names/fd_table.h"
#include "core/names/intern.h"
#include "core/names/path.h"
#include "core/process.h"
#include "hooks/hook.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* readdir_r is deprecated, but programs still call it */

CUSTOM_RAW(int, closedir, (DIR * stream), (stream))

static PT_NOINLINE void stream_opened(pt_u64 start, pt_u64 end, const char *path, DIR *stream)
{
    const long ret = stream ? 0 : -1;
    const int fd = stream ? dirfd(stream) : -1;
    const pt_u32 path_id = pt_path_id(ret, AT_FDCWD, path);
    pt_spent(PT_EV_meta_open_dir, start, end, fd, pt_result_and(ret, path_id), 0);
    pt_fd_opened(fd, path_id);
}

static PT_NOINLINE void stream_adopted(pt_u64 start, pt_u64 end, int fd, const DIR *stream)
{
    pt_spent(PT_EV_meta_open_dir, start, end, fd, pt_result_and(stream ? 0 : -1, pt_fd_path(fd)), 0);
}

/* libc opens, reads and closes the folder itself, and calls the program's filter meanwhile. It tells how many entries
 * the filter let through. */
static PT_NOINLINE void folder_listed(pt_u64 start, pt_u64 end, int dir_fd, const char *path, int ret)
{
    const pt_u32 path_id = pt_whole_path_id(ret, dir_fd, path);
    pt_spent(PT_EV_meta_open_dir, start, end, -1, pt_words((pt_u32)(ret < 0 ? pt_result(ret) : 0), path_id), 0);
    if (ret > 0)
        pt_spent(PT_EV_meta_read_dir, end, end, -1, pt_words(0, path_id), (pt_u64)ret);
}

PT_ALWAYS_INLINE void entry_delivered(DIR *stream, int delivered)
{
    struct pt_thread_area *area = pt_area_to_count_in();
    if (pt_likely(area != 0))
        area->counted_calls[PT_COUNTED_READ_DIR]++;
    if (delivered)
        pt_fd_count_entry(dirfd(stream));
}

/* A row without clock readings: they would cost more than most calls of readdir, which only copy from a buffer. */
#define COUNTED(type, name, parameters, arguments, stream, delivered)                                                  \
    PT_REAL(type, name, parameters, arguments)                                                                         \
    PT_EXPORT type name parameters                                                                                     \
    {                                                                                                                  \
        type const ret = real_##name arguments;                                                                        \
        if (pt_likely(pt_switches.io))                                                                                 \
            entry_delivered(stream, delivered);                                                                        \
        return ret;                                                                                                    \
    }

HOOK(DIR *, opendir, (const char *path), (path), io, stream_opened(start, end, path, ret))
HOOK(DIR *, fdopendir, (int fd), (fd), io, stream_adopted(start, end, fd, ret))
typedef int chooses(const struct dirent *);
typedef int chooses_64(const struct dirent64 *);
typedef int sorts(const struct dirent **, const struct dirent **);
typedef int sorts_64(const struct dirent64 **, const struct dirent64 **);

HOOK(int, scandir, (const char *path, struct dirent ***list, chooses *filter, sorts *order),
     (path, list, filter, order), io, folder_listed(start, end, AT_FDCWD, path, ret))
HOOK(int, scandir64, (const char *path, struct dirent64 ***list, chooses_64 *filter, sorts_64 *order),
     (path, list, filter, order), io, folder_listed(start, end, AT_FDCWD, path, ret))
HOOK(int, scandirat, (int dir, const char *path, struct dirent ***list, chooses *filter, sorts *order),
     (dir, path, list, filter, order), io, folder_listed(start, end, dir, path, ret))
HOOK(int, scandirat64, (int dir, const char *path, struct dirent64 ***list, chooses_64 *filter, sorts_64 *order),
     (dir, path, list, filter, order), io, folder_listed(start, end, dir, path, ret))
COUNTED(struct dirent *, readdir, (DIR * stream), (stream), stream, ret != 0)
COUNTED(struct dirent64 *, readdir64, (DIR * stream), (stream), stream, ret != 0)
COUNTED(int, readdir_r, (DIR * stream, struct dirent *entry, struct dirent **result), (stream, entry, result), stream,
        ret == 0 && *result != 0)
COUNTED(int, readdir64_r, (DIR * stream, struct dirent64 *entry, struct dirent64 **result), (stream, entry, result),
        stream, ret == 0 && *result != 0)

int hook_closedir(DIR *stream)
{
    if (pt_unlikely(!pt_switches.io || !stream))
        return real_closedir(stream);
    const int fd = dirfd(stream);
    const pt_u32 path = pt_fd_forget(fd);
    const pt_u64 entries = pt_fd_take_entries(fd);
    const pt_u64 start = pt_clock();
    if (entries)
        pt_spent(PT_EV_meta_read_dir, start, start, fd, pt_words(0, path), entries);
    const int ret = real_closedir(stream);
    pt_spent(PT_EV_meta_close_dir, start, pt_clock(), fd, pt_result_and(ret, path), 0);
    return ret;
}

/* ---- walks: what the program does in between is done in the folder where the walk is ---- */

CUSTOM(int, nftw, (const char *path, __nftw_func_t see, int descriptors, int flags), (path, see, descriptors, flags))
CUSTOM(int, nftw64, (const char *path, __nftw64_func_t see, int descriptors, int flags),
       (path, see, descriptors, flags))
CUSTOM(FTS *, fts_open, (char *const *paths, int options, int (*order)(const FTSENT **, const FTSENT **)),
       (paths, options, order))
CUSTOM(FTS64 *, fts64_open, (char *const *paths, int options, int (*order)(const FTSENT64 **, const FTSENT64 **)),
       (paths, options, order))

static void walk_begins(int changes_directory)
{
    if (changes_directory && pt_switches.io)
        pt_path_moved();
}

int nftw(const char *path, __nftw_func_t see, int descriptors, int flags)
{
    walk_begins(flags & FTW_CHDIR);
    return real_nftw(path, see, descriptors, flags);
}

int nftw64(const char *path, __nftw64_func_t see, int descriptors, int flags)
{
    walk_begins(flags & FTW_CHDIR);
    return real_nftw64(path, see, descriptors, flags);
}

FTS *fts_open(char *const *paths, int options, int (*order)(const FTSENT **, const FTSENT **))
{
    walk_begins(!(options & FTS_NOCHDIR));
    return real_fts_open(paths, options, order);
}

FTS64 *fts64_open(char *const *paths, int options, int (*order)(const FTSENT64 **, const FTSENT64 **))
{
    walk_begins(!(options & FTS_NOCHDIR));
    return real_fts64_open(paths, options, order);
}
