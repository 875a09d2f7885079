/* SPDX-License-Identifier: MIT
 *
 * path.h - names of files as ids. The reader knows the directory in which a process began, and takes relative names to
 * be of that. Once the process has moved to another one, a relative name is made absolute here.
 */
#ifndef PT_CORE_NAMES_PATH_H
#define PT_CORE_NAMES_PATH_H

#include "core/compiler.h"

/* Id of a path that is relative to the working directory, or absolute. As pt_intern_string otherwise. */
pt_u32 pt_intern_path(const char *path);

/* Id of a path that is relative to a directory that is open, made absolute: for events without a field for the folder.
 * An empty path is the descriptor itself (AT_EMPTY_PATH). */
pt_u32 pt_intern_path_at(int dir, const char *path);

/* Id of a name that libc puts behind a folder of its own; 0 = unknown, it could not be joined. */
pt_u32 pt_intern_path_in(const char *folder, const char *name);

/* What the kernel calls a descriptor of the process; the length of it (without a terminator), 0 = it says nothing. */
pt_u64 pt_path_of_fd(int fd, char *out, pt_u64 room);

/* The working directory is another one now. Not 0: relative names are made absolute from now on. 0: it is that of a
 * vfork child alone, or nobody may ask for it. */
int pt_path_moved(void);

#endif
