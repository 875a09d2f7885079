/* SPDX-License-Identifier: MIT
 *
 * b_poll.c - N1: poll of one descriptor that is ready.   usage: b_poll [CALLS]
 */
#include <poll.h>
#include <unistd.h>

#include "bench.h"

int main(int argc, char **argv)
{
    const long calls = bench_argument(argc, argv, 1, 1000000);
    int ends[2];
    if (pipe(ends) || write(ends[1], "x", 1) != 1)
        return 3;
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    for (int i = 0; i < 1000; i++)
        if (poll(&ready, 1, -1) != 1)
            return 4;
    const struct bench from = bench_now();
    for (long i = 0; i < calls; i++)
        if (poll(&ready, 1, -1) != 1)
            return 4;
    bench_print(from, (uint64_t)calls);
    return 0;
}
