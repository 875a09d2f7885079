/* SPDX-License-Identifier: MIT
 *
 * remove_tree.c - Owns: the removal of a directory tree. Threads: main only: nftw has no context. Never: follows a
 * link.
 */
#include "remove_tree.h"

#include <errno.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_DIRECTORIES = 16 };

/* nftw stops at the first thing that cannot be removed, and errno says why. */
static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)place;
    return type == FTW_DP || type == FTW_DNR ? rmdir(path) : unlink(path);
}

static bool found_unreadable;

static int open_up(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)place;
    found_unreadable = found_unreadable || type == FTW_DNR;
    return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) : 0;
}

/* Directories that a stage has made read-only or closed, as some caches do. */
static int remove_closed(const char *directory)
{
    enum { DEPTH_MAX = 64 };
    int depth = 0;
    do {
        found_unreadable = false;
        if (nftw(directory, open_up, OPEN_DIRECTORIES, FTW_PHYS | FTW_MOUNT) != 0)
            return -1;
    } while (found_unreadable && ++depth < DEPTH_MAX);
    return nftw(directory, remove_one, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int pt_remove_tree(const char *directory)
{
    struct stat about;
    if (lstat(directory, &about) < 0 && errno == ENOENT)
        return 0;
    if (nftw(directory, remove_one, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0)
        return 0;
    return remove_closed(directory);
}
