/* SPDX-License-Identifier: MIT
 *
 * bench.h - clocks and the one line that every benchmark program prints for run.py:
 *   RESULT ops=N wall_ns=N thread_ns=N process_ns=N
 * thread_ns is the CPU time of the measuring thread, process_ns that of the whole process, both of the measured loop
 * alone.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct bench {
    uint64_t wall_ns, thread_ns, process_ns;
};

static inline uint64_t bench_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline struct bench bench_now(void)
{
    return (struct bench){bench_clock_ns(CLOCK_MONOTONIC), bench_clock_ns(CLOCK_THREAD_CPUTIME_ID),
                          bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID)};
}

/* VmHWM of /proc/self/status; 0 = unknown. */
static inline unsigned long bench_peak_rss_kib(void)
{
    unsigned long kib = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lu", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib;
}

static inline void bench_print_ns(uint64_t ops, uint64_t wall_ns, uint64_t thread_ns, uint64_t process_ns,
                                  unsigned long rss_kib)
{
    fprintf(stderr, "RESULT ops=%llu wall_ns=%llu thread_ns=%llu process_ns=%llu rss_kib=%lu\n",
            (unsigned long long)ops, (unsigned long long)wall_ns, (unsigned long long)thread_ns,
            (unsigned long long)process_ns, rss_kib);
}

static inline void bench_print(struct bench from, uint64_t ops)
{
    const struct bench to = bench_now();
    bench_print_ns(ops, to.wall_ns - from.wall_ns, to.thread_ns - from.thread_ns, to.process_ns - from.process_ns,
                   bench_peak_rss_kib());
}

static inline long bench_argument(int argc, char **argv, int index, long otherwise)
{
    return argc > index ? atol(argv[index]) : otherwise;
}

#endif
