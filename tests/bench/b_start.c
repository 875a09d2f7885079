/* SPDX-License-Identifier: MIT
 *
 * b_start.c - start and end of a program, one after another. All figures are of the children: it also serves to measure
 * a command once.   usage: b_start TIMES COMMAND [ARGUMENT...]
 */
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench.h"

extern char **environ;

static struct rusage of_children(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage;
}

static uint64_t cpu_ns(const struct rusage *usage)
{
    return ((uint64_t)usage->ru_utime.tv_sec + (uint64_t)usage->ru_stime.tv_sec) * 1000000000u +
           ((uint64_t)usage->ru_utime.tv_usec + (uint64_t)usage->ru_stime.tv_usec) * 1000u;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const long times = atol(argv[1]);
    const struct bench from = bench_now();
    for (long i = 0; i < times; i++) {
        pid_t pid;
        int status;
        if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) || waitpid(pid, &status, 0) < 0 || status)
            return 3;
    }
    const uint64_t wall = bench_clock_ns(CLOCK_MONOTONIC) - from.wall_ns;
    const struct rusage used = of_children();
    bench_print_ns((uint64_t)times, wall, cpu_ns(&used), cpu_ns(&used), (unsigned long)used.ru_maxrss);
    return 0;
}
