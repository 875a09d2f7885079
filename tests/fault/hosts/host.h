/* SPDX-License-Identifier: MIT
 *
 * host.h - what the hostile host programs share: claims about the host, and claims about its trace.
 *
 * A host prints the same bytes with and without the library. MUST() says what must be true inside the host; a line
 * "trace: KEY OP NUMBER" says what its trace must hold (harness.py reads it). KEY is
 *   an event name          calls counted in the totals, over all processes of the run
 *   NAME.bytes NAME.errors the same row's bytes and errors
 *   size:N                 allocations of exactly N bytes (full heap mode only)
 *   fd_path:TEXT:NAME      events NAME whose path ends in TEXT
 *   processes              trace files of the run
 *   lost                   events not stored (0 is demanded unless the host says otherwise)
 */
#ifndef FAULT_HOST_H
#define FAULT_HOST_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int host_broken __attribute__((unused));

#define MUST(claim)                                                                                                    \
    do {                                                                                                               \
        if (!(claim)) {                                                                                                \
            printf("BROKEN: %s (line %d, errno %d)\n", #claim, __LINE__, errno);                                       \
            host_broken = 1;                                                                                           \
        }                                                                                                              \
    } while (0)

static inline void trace_must(const char *key, const char *op, long number)
{
    printf("trace: %s %s %ld\n", key, op, number);
    fflush(stdout);
}

/* The compiler may not see through it, so no pair of malloc and free is removed. */
static void *volatile host_sink;

static inline void alloc_pairs(long pairs, size_t size)
{
    for (long i = 0; i < pairs; i++) {
        void *block = malloc(size);
        host_sink = block;
        free(block);
    }
}

static inline int wait_for(pid_t pid)
{
    int status = -1;
    while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    return status;
}

/* A thread of this process sleeps, or is over: on a busy machine no pause is long enough for that. Not before it is set
 * (0). */
static inline int is_asleep(pid_t tid)
{
    char path[64], text[128] = "";
    if (!tid)
        return 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 1;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    const char *state = n > 0 ? strrchr(text, ')') : NULL;
    return !state || state[2] == 'S';
}

static inline int null_writes(long calls)
{
    const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (long i = 0; i < calls; i++)
        if (write(fd, "12345678", 8) != 8)
            return -1;
    return close(fd);
}

#endif
