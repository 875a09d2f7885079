/* SPDX-License-Identifier: MIT
 *
 * new_file.h - a file that has its name only when it is whole, and folders in which such files are made.
 *
 * Others may be able to write into the folder, too, and plant links, pipes and devices under any name that they can
 * guess. So a file is always made anew under a name of its own, and what then has the wanted name is replaced, never
 * opened. A folder of ours is held by its descriptor: moved away, it is still the one that was looked at.
 *
 *     struct pt_new_file file;
 *     if (pt_new_file_open(&file, folder_fd, "run.json") < 0)
 *         ...
 *     write to file.fd
 *     if (pt_new_file_finish(&file) < 0)
 *         ...
 */
#ifndef PT_UTIL_NEW_FILE_H
#define PT_UTIL_NEW_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct pt_new_file {
    int fd;          /* to write into; closed by finish and drop */
    int folder_fd;   /* the caller's */
    char *name;      /* the wanted one */
    char *temporary; /* the one that it has now */
};

/* In a folder of ours (private to us), or with AT_FDCWD at a path that the user gave (by the umask). All return 0, or
 * -1 with errno and nothing left behind. */
int pt_new_file_open(struct pt_new_file *file, int folder_fd, const char *name);
/* The same in a folder that the user named: by the umask, or with the rights of our file that it replaces. */
int pt_new_file_open_shown(struct pt_new_file *file, int folder_fd, const char *name);
int pt_new_file_finish(struct pt_new_file *file);
/* The same in two steps: nothing more is written, and it gets its name later. */
int pt_new_file_close(struct pt_new_file *file);
int pt_new_file_name(struct pt_new_file *file);
void pt_new_file_drop(struct pt_new_file *file);
int pt_new_file_write(int folder_fd, const char *name, const void *bytes, size_t n);

/* Does a path that the user gave lead to what is no file: a pipe, a device? That is written into; the links of other
 * users are not followed there. */
bool pt_path_is_special(const char *path);

/* A descriptor of a folder that belongs to us, or -1 with the reason. Whoever owns another one could choose what is
 * written there, and that holds for root, too. */
int pt_folder_open_own(const char *path, struct pt_error *err);
/* The same of one in a folder of ours; made where it is missing, a link of that name is replaced. -1 with errno. */
int pt_folder_make_in(int folder_fd, const char *name);

#endif
