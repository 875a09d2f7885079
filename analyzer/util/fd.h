/* SPDX-License-Identifier: MIT
 *
 * fd.h - descriptors.
 */
#ifndef PT_UTIL_FD_H
#define PT_UTIL_FD_H

#include <fcntl.h>
#include <unistd.h>

#include "str.h"

/* If we are started with stdin, stdout or stderr closed, the next file that we open gets its number: move it to
 * another number, else it would be used as the standard one. -1 stays -1. */
static inline int pt_fd_above_standard(int fd)
{
    if (fd < 0 || fd > 2)
        return fd;
    const int high_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return high_fd;
}

/* Reads to the end, at most so many bytes. -1 with errno; EFBIG = there is more. */
int pt_fd_read_all(int fd, size_t most, struct pt_str *out);
/* -1 with errno when not all could be written. */
int pt_fd_write_all(int fd, const void *bytes, size_t n);

#endif
