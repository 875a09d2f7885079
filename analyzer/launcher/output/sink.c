/* SPDX-License-Identifier: MIT
 *
 * output/sink.c - Owns: the second, non-blocking description of our stdout and stderr. Threads: main only. Never: sets
 * O_NONBLOCK on the shared one, which the shell and every other program on the terminal would get too.
 */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/fd.h"

bool pt_outlet_is_open(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
        return false;
    /* Our own files close at execve; one of them has the number because we were started with it closed. */
    return !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static int open_again(int fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return pt_fd_above_standard(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

void pt_outlet_open(struct pt_outlet *ret_sink, int fd)
{
    *ret_sink = (struct pt_outlet){.fd = fd, .own_fd = -1};
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return;
    ret_sink->is_terminal = isatty(fd);
    ret_sink->is_socket = S_ISSOCK(st.st_mode);
    ret_sink->can_block = ret_sink->is_terminal || ret_sink->is_socket || S_ISFIFO(st.st_mode);
    ret_sink->discards = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
    /* Other devices may do something when they are opened. */
    if (ret_sink->is_terminal || S_ISFIFO(st.st_mode))
        ret_sink->own_fd = open_again(fd);
}

void pt_outlet_close(struct pt_outlet *sink)
{
    if (sink->own_fd >= 0)
        close(sink->own_fd);
    sink->own_fd = -1;
}

struct pollfd pt_outlet_poll(const struct pt_outlet *sink)
{
    return (struct pollfd){.fd = sink->own_fd >= 0 ? sink->own_fd : sink->fd, .events = POLLOUT};
}

static ssize_t write_some(const struct pt_outlet *sink, const char *bytes, size_t n)
{
    if (sink->own_fd >= 0)
        return write(sink->own_fd, bytes, n);
    if (sink->is_socket)
        return send(sink->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct pollfd ready = pt_outlet_poll(sink);
    if (sink->can_block && poll(&ready, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    /* So much fits into a pipe that poll calls writable. */
    return write(sink->fd, bytes, sink->can_block && n > PIPE_BUF ? PIPE_BUF : n);
}

size_t pt_outlet_write(struct pt_outlet *sink, const char *bytes, size_t n)
{
    size_t taken = 0;
    sink->blocked = false;
    while (taken < n && sink->fd >= 0 && !sink->problem && !sink->discards) {
        const ssize_t written = write_some(sink, bytes + taken, n - taken);
        if (written > 0) {
            taken += (size_t)written;
        } else if (written < 0 && errno == EAGAIN) {
            sink->blocked = true;
            return taken;
        } else if (written == 0 || errno != EINTR) {
            sink->problem = written == 0 ? EIO : errno;
        }
    }
    if (sink->problem)
        sink->lost_bytes += n - taken;
    return n;
}
