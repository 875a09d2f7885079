/* SPDX-License-Identifier: MIT
 *
 * output/drainer.c - Owns: the process proftrace-log. Threads: its only one. Never: keeps open what the launcher has
 * open, writes anywhere but into the log.
 */
#include "drainer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOG_FD 2
#define PIECE_BYTES 65536u
#define READ_PAUSE_NS 10000000 /* a writer of many small lines does not wake us for each */

/* Reads until it is empty for now. False: no process can write to it any more. */
static bool read_on(int fd, struct pt_log *log)
{
    static char piece[PIECE_BYTES];
    for (;;) {
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n == 0 || (n < 0 && errno != EINTR))
            return n < 0 && errno == EAGAIN;
        /* After the disk was full, output is thrown away, but read: the writer has no other reader. */
        if (n > 0)
            (void)pt_log_write(log, piece, (size_t)n);
    }
}

__attribute__((noreturn)) static void drain(const int *fds, int n_fds, struct pt_log *log)
{
    prctl(PR_SET_NAME, "proftrace-log", 0, 0, 0);
    setsid();
    /* It ends with the last writer. A signal to all (a hangup, the end of a service) would end us first, and the
     * daemon would be killed by its last write. */
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    struct pollfd from[2] = {{.fd = -1}, {.fd = -1}};
    for (int i = 0; i < n_fds; i++)
        from[i] = (struct pollfd){.fd = dup2(fds[i], i), .events = POLLIN};
    log->fd = dup2(log->fd, LOG_FD);
    for (int fd = n_fds; fd < LOG_FD; fd++)
        close(fd);
    if (syscall(SYS_close_range, LOG_FD + 1, ~0u, 0) < 0) /* Linux before 5.9 */
        for (int fd = LOG_FD + 1; fd < 4096; fd++)
            close(fd);
    if (chdir("/") < 0)
        _exit(1);
    while (from[0].fd >= 0 || from[1].fd >= 0) {
        if (poll(from, 2, -1) < 0 && errno != EINTR)
            _exit(1);
        for (int i = 0; i < 2; i++)
            if (from[i].fd >= 0 && from[i].revents && !read_on(from[i].fd, log)) {
                close(from[i].fd);
                from[i].fd = -1;
            }
        nanosleep(&(struct timespec){0, READ_PAUSE_NS}, NULL);
    }
    _exit(0);
}

int pt_drainer_start(const int *fds, int n_fds, const struct pt_log *log)
{
    const pid_t pid = fork();
    struct pt_log own = *log;
    if (pid == 0)
        drain(fds, n_fds, &own);
    return pid < 0 ? -1 : 0;
}
