/* SPDX-License-Identifier: MIT
 *
 * T30: children by fork, _Fork, the raw fork, clone and clone3 system calls, from one thread and beside four busy ones;
 * some end by SIGKILL, one replaces itself. Each child has a file of its own with its own events, and no event is in
 * the wrong one.
 */
#include "host.h"

#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>

enum { WAYS = 5, PER_WAY = 6, IN_PARENT = 100, IN_CHILD = 1000 };
static volatile int stop;

static void *busy(void *unused)
{
    while (!stop) {
        alloc_pairs(10, 333);
        for (volatile int spin = 0; spin < 20000; spin++)
            ;
    }
    return unused;
}

static pid_t child_by(int way)
{
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    switch (way) {
    case 0:
        return fork();
    case 1:
        return _Fork();
    case 2:
        return (pid_t)syscall(SYS_fork);
    case 3:
        return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    default:
        return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    }
}

/* After a raw fork beside busy threads another thread may have held the allocator's lock, as ever; then the child must
 * not allocate. It does I/O, which the tracer must follow just the same. */
static void storm(int way, int may_allocate, size_t size)
{
    for (int i = 0; i < PER_WAY; i++) {
        const pid_t pid = child_by(way);
        if (!pid) {
            alarm(20);
            if (may_allocate)
                alloc_pairs(IN_CHILD, size);
            const int fd = open("/dev/zero", O_RDWR);
            for (int k = 0; k < IN_CHILD; k++)
                if (pwrite(fd, "x", 1, (long)getpid() * 10) != 1)
                    _exit(1);
            if (i == PER_WAY - 1)
                kill(getpid(), SIGKILL);
            _exit(3);
        }
        const int status = wait_for(pid);
        MUST(i == PER_WAY - 1 ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 3);
        alloc_pairs(IN_PARENT, 4242);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        alloc_pairs(IN_CHILD, 4247);
        return 7;
    }
    for (int way = 0; way < WAYS; way++)
        storm(way, 1, 4300);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, busy, NULL);
    for (int way = 0; way < WAYS; way++)
        storm(way, way == 0, 4400);
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    trace_must("size:4242", "==", 2L * WAYS * PER_WAY * IN_PARENT);
    trace_must("size:4300", "==", (long)WAYS * PER_WAY * IN_CHILD);
    trace_must("size:4400", "==", (long)PER_WAY * IN_CHILD);
    trace_must("size:4247", "==", IN_CHILD);
    trace_must("io_pwrite", "==", 2L * WAYS * PER_WAY * IN_CHILD);
    trace_must("offset_is_ten_pids:io_pwrite", "==", 2L * WAYS * PER_WAY * IN_CHILD);
    trace_must("processes", "==", 2L * WAYS * PER_WAY + 2);
    if (host_broken)
        return 1;
    execl(argv[0], argv[0], "again", (char *)0);
    return 1;
}
