/* SPDX-License-Identifier: MIT
 *
 * isolate_stale.c - Owns: the mark in a temporary directory, and the removal of those that a killed launcher left.
 * Threads: main only. Never: removes what another user owns, what others can enter, or what a stage that outlived its
 * launcher may still read.
 */
#include "isolate_stale.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/mem.h"
#include "remove_tree.h"

#define MARK ".launcher"

enum { MOST_REMOVED = 100, MOST_ENVIRONMENT_BYTES = 4 << 20 };

int pt_isolate_mark(const char *directory)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" MARK, directory);
    PT_AUTO(pt_freep) char *unlocked = pt_asprintf("%s/" MARK ".new", directory);
    const int fd = open(unlocked, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    /* Under its name only when it is locked: another start must not find it free. */
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && rename(unlocked, path) == 0)
        return fd;
    unlink(unlocked);
    if (fd >= 0)
        close(fd);
    return -1;
}

void pt_isolate_unmark(const char *directory)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("%s/" MARK, directory);
    unlink(path);
}

/* ---- whether anybody needs it ---- */

/* The lock, or -1: there is a launcher, or it was kept on purpose. */
static int lock_of_killed(int root, const char *name)
{
    struct stat about;
    const int directory = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return -1;
    int fd = -1;
    if (fstat(directory, &about) == 0 && about.st_uid == geteuid() && (about.st_mode & 077) == 0)
        fd = openat(directory, MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    close(directory);
    if (fd < 0 || (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0))
        return fd;
    close(fd);
    return -1;
}

/* By the name alone, which no two have: the way to it may be written with a second slash, or by a link. */
static bool environment_names(const char *pid, const char *name)
{
    PT_AUTO(pt_freep) char *path = pt_asprintf("/proc/%s/environ", pid);
    PT_AUTO(pt_freep) char *part = pt_asprintf("/%s/", name);
    PT_AUTO(pt_freep) char *text = pt_malloc(MOST_ENVIRONMENT_BYTES);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    for (ssize_t got = 1; fd >= 0 && got > 0 && n<MOST_ENVIRONMENT_BYTES; n += got> 0 ? (size_t)got : 0)
        got = read(fd, text + n, MOST_ENVIRONMENT_BYTES - n);
    if (fd >= 0)
        close(fd);
    return memmem(text, n, part, strlen(part)) != NULL;
}

/* A stage runs on when its launcher is killed. */
static bool is_read_by_a_stage(const char *name)
{
    bool found = false;
    DIR *list = opendir("/proc");
    for (struct dirent *entry; list && !found && (entry = readdir(list));)
        found = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && environment_names(entry->d_name, name);
    if (list)
        closedir(list);
    return found || !list;
}

/* ---- removal ---- */

static bool remove_if_stale(int root_fd, const char *root, const char *name)
{
    PT_AUTO(pt_closep) int lock_fd = lock_of_killed(root_fd, name);
    if (lock_fd < 0)
        return false;
    PT_AUTO(pt_freep) char *directory = pt_asprintf("%s/%s", root, name);
    return !is_read_by_a_stage(name) && pt_remove_tree(directory) == 0;
}

void pt_isolate_remove_stale(const char *root)
{
    DIR *list = opendir(root);
    unsigned n_removed = 0;
    for (struct dirent *entry; list && n_removed < MOST_REMOVED && (entry = readdir(list));)
        if (!strncmp(entry->d_name, PT_ISOLATE_PREFIX, strlen(PT_ISOLATE_PREFIX)))
            n_removed += remove_if_stale(dirfd(list), root, entry->d_name);
    if (list)
        closedir(list);
}
