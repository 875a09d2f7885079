/* SPDX-License-Identifier: MIT
 *
 * fd.c - Owns: reading and writing to the end in spite of signals and short counts. Threads: any. Never: loses bytes
 * because of a short count or a signal.
 */
#include "fd.h"

#include <errno.h>

int pt_fd_read_all(int fd, size_t most, struct pt_str *out)
{
    char buffer[65536];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        pt_str_bytes(out, buffer, (size_t)n);
        if (out->n > most) {
            errno = EFBIG;
            return -1;
        }
    }
    return 0;
}

int pt_fd_write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n) {
        const ssize_t written = write(fd, at, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written ? errno : EIO;
            return -1;
        }
        at += written;
        n -= (size_t)written;
    }
    return 0;
}
