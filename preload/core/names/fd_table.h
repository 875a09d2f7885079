/* SPDX-License-Identifier: MIT
 *
 * fd_table.h - the path behind each descriptor, as a string id.
 *
 * Hooks update it on open, dup and close. A descriptor that was opened without a hook (inherited, by libc itself, by
 * raw system calls) is looked up in /proc/self/fd once, at the first event that uses it. In a forked child the table is
 * inherited with its ids.
 */
#ifndef PT_CORE_NAMES_FD_TABLE_H
#define PT_CORE_NAMES_FD_TABLE_H

#include "core/compiler.h"

#define PT_FD_TABLE_BYTES (512u << 10)

/* Mapped by the constructor: half a megabyte is not for processes that are not recorded. */
struct pt_fd_table {
    pt_u32 *paths;
    pt_u32 *entries_read;
    pt_u32 size; /* descriptors; 0 = there is none yet */
};
extern struct pt_fd_table pt_fd_table __attribute__((visibility("hidden")));

/* -1 when the kernel has no memory for it. */
int pt_fd_table_make(void);
pt_u32 pt_fd_resolve(int fd);

/* Path of a descriptor for an event; 0 = unknown (bad descriptor, or beyond the table). */
PT_ALWAYS_INLINE pt_u32 pt_fd_path(int fd)
{
    if (pt_unlikely((unsigned)fd >= pt_fd_table.size))
        return 0;
    const pt_u32 path = pt_fd_table.paths[fd];
    return pt_likely(path != 0) ? path : pt_fd_resolve(fd);
}

PT_ALWAYS_INLINE void pt_fd_set(int fd, pt_u32 path)
{
    if (pt_likely((unsigned)fd < pt_fd_table.size))
        pt_fd_table.paths[fd] = path;
}

#define pt_fd_clear(fd) pt_fd_set((fd), 0)
void pt_fd_clear_range(unsigned first, unsigned last);

/* Entries delivered by readdir on a directory stream's descriptor (one event per stream, at closedir). */
void pt_fd_count_entry(int fd);
pt_u64 pt_fd_take_entries(int fd);

#endif
