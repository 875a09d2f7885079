/* SPDX-License-Identifier: MIT
 *
 * b_pread.c - I1: pread of 4 KiB at random pages of a cached file of 64 MiB (made when absent).   usage: b_pread FILE
 * [CALLS]
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

enum { PAGE_BYTES = 4096, PAGES = 16384 };

static int prepare(const char *path)
{
    static char page[PAGE_BYTES];
    const int fd = open(path, O_RDWR | O_CREAT, 0644);
    struct stat status;
    if (fd < 0 || fstat(fd, &status))
        return -1;
    for (long i = 0; status.st_size < (off_t)PAGES * PAGE_BYTES && i < PAGES; i++) {
        memset(page, (int)i, sizeof page);
        if (pwrite(fd, page, sizeof page, i * PAGE_BYTES) != PAGE_BYTES)
            return -1;
    }
    for (long i = 0; i < PAGES; i++) /* into the page cache */
        if (pread(fd, page, sizeof page, i * PAGE_BYTES) != PAGE_BYTES)
            return -1;
    return fd;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const long calls = bench_argument(argc, argv, 2, 1000000);
    const int fd = prepare(argv[1]);
    if (fd < 0)
        return 3;
    static char page[PAGE_BYTES];
    uint32_t x = 9;
    const struct bench from = bench_now();
    for (long i = 0; i < calls; i++) {
        x = x * 1664525u + 1013904223u;
        if (pread(fd, page, sizeof page, (off_t)((x >> 10) % PAGES) * PAGE_BYTES) != PAGE_BYTES)
            return 4;
    }
    bench_print(from, (uint64_t)calls);
    return 0;
}
