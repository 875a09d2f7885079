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

#define PT_FD_TABLE_SIZE 65536

extern pt_u32 pt_fd_paths[PT_FD_TABLE_SIZE] __attribute__((visibility("hidden")));
pt_u32 pt_fd_resolve(int fd);

/* Path of a descriptor for an event; 0 = unknown (bad descriptor, or beyond the table). */
PT_ALWAYS_INLINE pt_u32 pt_fd_path(int fd)
{
    if (pt_unlikely((unsigned)fd >= PT_FD_TABLE_SIZE))
        return 0;
    const pt_u32 path = pt_fd_paths[fd];
    return pt_likely(path != 0) ? path : pt_fd_resolve(fd);
}

PT_ALWAYS_INLINE void pt_fd_set(int fd, pt_u32 path)
{
    if (pt_likely((unsigned)fd < PT_FD_TABLE_SIZE))
        pt_fd_paths[fd] = path;
}

#define pt_fd_clear(fd) pt_fd_set((fd), 0)
void pt_fd_clear_range(unsigned first, unsigned last);

/* Entries delivered by readdir on a directory stream's descriptor (one event per stream, at closedir). */
void pt_fd_count_entry(int fd);
pt_u64 pt_fd_take_entries(int fd);

#endif
