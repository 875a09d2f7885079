/* SPDX-License-Identifier: MIT
 *
 * new_file.c - Owns: the name that a file has until it is whole. Threads: any. Never: opens what is there already,
 * follows a link in a folder of ours.
 */
#include "new_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "mem.h"

enum { ATTEMPTS = 16 };

static void free_names(struct pt_new_file *file)
{
    free(file->name);
    free(file->temporary);
    file->name = file->temporary = NULL;
}

static int open_with(struct pt_new_file *file, int folder_fd, const char *name, mode_t mode)
{
    *file = (struct pt_new_file){.fd = -1, .folder_fd = folder_fd, .name = pt_strdup(name)};
    for (int attempt = 0; attempt < ATTEMPTS && file->fd < 0; attempt++) {
        unsigned id = 0;
        if (getrandom(&id, sizeof id, GRND_NONBLOCK) != sizeof id)
            id = (unsigned)getpid() * ATTEMPTS + (unsigned)attempt;
        free(file->temporary);
        file->temporary = pt_asprintf("%s.%08x.new", name, id);
        file->fd = pt_fd_above_standard(
            openat(folder_fd, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
        if (file->fd < 0 && errno != EEXIST)
            break;
    }
    if (file->fd >= 0)
        return 0;
    const int why = errno;
    free_names(file);
    errno = why;
    return -1;
}

int pt_new_file_open(struct pt_new_file *file, int folder_fd, const char *name)
{
    return open_with(file, folder_fd, name, folder_fd == AT_FDCWD ? 0666 : 0600);
}

/* Another user may have linked or moved one of our files there, whose rights were meant for something else. */
static bool is_surely_ours(int folder_fd, const struct stat *file)
{
    struct stat folder;
    return file->st_nlink == 1 && fstat(folder_fd, &folder) == 0 &&
           ((folder.st_uid == geteuid() && !(folder.st_mode & 022)) ||
            ((folder.st_mode & S_ISVTX) && (folder.st_uid == geteuid() || !folder.st_uid)));
}

/* Its group, too: the rights of a group are no other group's. */
static void give_rights(int fd, const struct stat *before)
{
    struct stat now;
    const bool has_group =
        fstat(fd, &now) == 0 && (now.st_gid == before->st_gid || fchown(fd, (uid_t)-1, before->st_gid) == 0);
    fchmod(fd, before->st_mode & (has_group ? 0777 : 0707));
}

int pt_new_file_open_shown(struct pt_new_file *file, int folder_fd, const char *name)
{
    struct stat before;
    const bool was_there = fstatat(folder_fd, name, &before, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(before.st_mode) &&
                           before.st_uid == geteuid();
    if (!was_there)
        return open_with(file, folder_fd, name, 0666);
    if (!is_surely_ours(folder_fd, &before)) /* not wider than the umask gives, not wider than it was */
        return open_with(file, folder_fd, name, before.st_mode & 0666);
    const int result = open_with(file, folder_fd, name, 0600); /* nobody else opens it before its rights are narrowed */
    if (result == 0)
        give_rights(file->fd, &before);
    return result;
}

static int drop_and_fail(struct pt_new_file *file)
{
    const int why = errno;
    pt_new_file_drop(file);
    errno = why;
    return -1;
}

int pt_new_file_close(struct pt_new_file *file)
{
    const int fd = file->fd;
    file->fd = -1;
    return close(fd) == 0 ? 0 : drop_and_fail(file);
}

int pt_new_file_name(struct pt_new_file *file)
{
    if (renameat(file->folder_fd, file->temporary, file->folder_fd, file->name) < 0)
        return drop_and_fail(file);
    free_names(file);
    return 0;
}

int pt_new_file_finish(struct pt_new_file *file)
{
    return pt_new_file_close(file) < 0 ? -1 : pt_new_file_name(file);
}

void pt_new_file_drop(struct pt_new_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    if (file->temporary)
        unlinkat(file->folder_fd, file->temporary, 0);
    free_names(file);
}

int pt_new_file_write(int folder_fd, const char *name, const void *bytes, size_t n)
{
    struct pt_new_file file;
    if (pt_new_file_open(&file, folder_fd, name) < 0)
        return -1;
    if (pt_fd_write_all(file.fd, bytes, n) == 0)
        return pt_new_file_finish(&file);
    const int why = errno;
    pt_new_file_drop(&file);
    errno = why;
    return -1;
}

bool pt_path_is_special(const char *path)
{
    struct stat status;
    if (lstat(path, &status) < 0 || (S_ISLNK(status.st_mode) && status.st_uid != 0 && status.st_uid != geteuid()))
        return false;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* ---- folders ---- */

/* The descriptor, or -1 with EPERM where the folder is another user's. */
static int own(int fd)
{
    struct stat status;
    if (fd < 0 || (fstat(fd, &status) == 0 && status.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

int pt_folder_open_own(const char *path, struct pt_error *err)
{
    const int fd = own(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd < 0 && errno == EPERM)
        return pt_fail(err, "%s belongs to another user, who could choose what is written there", path);
    return fd < 0 ? pt_fail(err, "cannot open %s: %s", path, strerror(errno)) : fd;
}

int pt_folder_make_in(int folder_fd, const char *name)
{
    struct stat status;
    if (fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode))
        unlinkat(folder_fd, name, 0);
    if (mkdirat(folder_fd, name, 0700) < 0 && errno != EEXIST)
        return -1;
    return own(openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}
