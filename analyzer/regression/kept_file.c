/* SPDX-License-Identifier: MIT
 *
 * Owns: what stays of a file that is written anew: its place and its rights. Threads: one. Never: follows the link of
 * another user, who could choose what is replaced.
 */
#include "kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/text_file.h"
#include "util/auto.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/new_file.h"

/* Where a link of ours leads; else the path itself. The caller frees it. */
static char *true_path(const char *path)
{
    struct stat link;
    const bool is_ours = lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && (link.st_uid == geteuid() || !link.st_uid);
    char *target = is_ours ? realpath(path, NULL) : NULL;
    return target ? target : pt_strdup(path);
}

/* The folder's lock, because the file is replaced. */
int pt_kept_file_lock(const char *path)
{
    PT_AUTO(pt_freep) char *folder = true_path(path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    PT_AUTO(pt_closep) int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result;
    while ((result = fd < 0 ? -1 : flock(fd, LOCK_EX)) < 0 && errno == EINTR)
        ;
    const int locked = result < 0 ? -1 : fd;
    if (locked >= 0)
        fd = -1;
    return locked;
}

static int write_anew(const char *path, const struct stat *before, const struct pt_str *text)
{
    struct pt_new_file file;
    if (pt_new_file_open(&file, AT_FDCWD, path) < 0)
        return -1;
    if ((!before || before->st_uid != geteuid() || fchmod(file.fd, before->st_mode & 0777) == 0) &&
        pt_fd_write_all(file.fd, pt_str_text(text), text->n) == 0)
        return pt_new_file_finish(&file);
    const int why = errno;
    pt_new_file_drop(&file);
    errno = why;
    return -1;
}

int pt_kept_file_write(const char *path, const struct pt_str *text, struct pt_error *err)
{
    PT_AUTO(pt_freep) char *target = true_path(path);
    struct stat before;
    const bool was_there = lstat(target, &before) == 0 && S_ISREG(before.st_mode);
    if (!strcmp(path, "-") || pt_path_is_special(target))
        return pt_text_file_write(path, text, err);
    return write_anew(target, was_there ? &before : NULL, text) < 0
               ? pt_fail(err, "cannot write %s: %s", path, strerror(errno))
               : 0;
}
