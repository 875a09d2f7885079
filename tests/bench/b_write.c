/* SPDX-License-Identifier: MIT
 *
 * b_write.c - I2: write of 1 to 4096 bytes to a file, rewound every 64 MiB; meant for tmpfs.   usage: b_write FILE
 * [CALLS]
 */
#include <fcntl.h>
#include <unistd.h>

#include "bench.h"

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const long calls = bench_argument(argc, argv, 2, 1000000);
    const int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
    static char buffer[4096];
    uint32_t x = 9;
    size_t written = 0;
    const struct bench from = bench_now();
    for (long i = 0; i < calls; i++) {
        x = x * 1664525u + 1013904223u;
        const size_t bytes = 1 + (x >> 12) % sizeof buffer;
        if (write(fd, buffer, bytes) != (ssize_t)bytes)
            return 4;
        written += bytes;
        if (written > 64u << 20) {
            lseek(fd, 0, SEEK_SET);
            written = 0;
        }
    }
    bench_print(from, (uint64_t)calls);
    unlink(argv[1]);
    return 0;
}
