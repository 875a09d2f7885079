/* SPDX-License-Identifier: MIT
 *
 * b_exit.c - how long a process takes to end after many events: from the child's call of exit to the parent's waitpid.
 * usage: b_exit [EVENTS]      wall_ns of the RESULT line is that time
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

int main(int argc, char **argv)
{
    const long events = bench_argument(argc, argv, 1, 1000000);
    uint64_t *left_at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (left_at == MAP_FAILED)
        return 3;
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open("/dev/zero", O_RDONLY);
        char byte;
        for (long i = 0; i < events; i++)
            if (read(fd, &byte, 1) != 1)
                _exit(4);
        *left_at = bench_clock_ns(CLOCK_MONOTONIC);
        exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status)
        return 4;
    const uint64_t wall = bench_clock_ns(CLOCK_MONOTONIC) - *left_at;
    bench_print_ns(1, wall, wall, wall, bench_peak_rss_kib());
    return 0;
}
