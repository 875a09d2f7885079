/* SPDX-License-Identifier: MIT
 *
 * planted.h - waits of known length, and what the thread that waited knows of them itself.
 *
 * A thread says "PART NS QUEUED": by its own clock, computing by the CPU time that it got, and how long it waited for a
 * CPU meanwhile, as the kernel counts it. On a busy machine that much of a call may be no part of the wait.
 */
#ifndef ACCOUNT_PLANTED_H
#define ACCOUNT_PLANTED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline long now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* Past the library: what a program does to know this is no part of the program. */
static inline long queued_ns(void)
{
    char text[128] = "";
    unsigned long long on = 0, queued = 0;
    const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || syscall(SYS_read, fd, text, sizeof text - 1) <= 0 || sscanf(text, "%llu %llu", &on, &queued) != 2)
        exit(3);
    syscall(SYS_close, fd);
    return (long)queued;
}

static inline void pause_ms(long ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&length, NULL);
}

/* Until the thread has used that much CPU: another program on the machine must not shorten it. */
__attribute__((noinline, unused)) static void compute_ms(long ms)
{
    unsigned long sum = 0;
    const long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 200000; i++)
            __asm__ volatile("" : "+r"(sum) : "r"((unsigned long)i * 2654435761u));
}

struct watch {
    long start_ns, queued_ns;
    clockid_t clock;
};

static inline struct watch begin(clockid_t clock)
{
    const long queued = queued_ns();
    return (struct watch){now_ns(clock), queued, clock};
}

static inline void took(const char *part, const struct watch *since)
{
    const long ns = now_ns(since->clock) - since->start_ns;
    char line[128];
    /* One write of one line: several threads and processes tell. */
    const int n = snprintf(line, sizeof line, "%ld %s %ld %ld\n", (long)syscall(SYS_gettid), part, ns,
                           queued_ns() - since->queued_ns);
    if (syscall(SYS_write, 1, line, n) != n)
        exit(3);
}

#endif
