/* SPDX-License-Identifier: MIT
 *
 * b_mixed.c - I3: I/O as programs do it: of one of 1,000 files stat, open, three reads of different sizes, a seek,
 * close, and a line to a log. Eight calls each.   usage: b_mixed DIRECTORY [FILES]
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"

enum { FILES = 1000, MOST_BYTES = 20000 };

static char bytes[MOST_BYTES];

static int prepare(const char *directory)
{
    char path[300];
    mkdir(directory, 0700);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/image-%04d.jpg", directory, i);
        const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || write(fd, bytes, sizeof bytes) != sizeof bytes || close(fd))
            return -1;
    }
    snprintf(path, sizeof path, "%s/log", directory);
    return open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

static int visit(const char *path, int log, uint32_t x)
{
    struct stat status;
    const int fd = stat(path, &status) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, bytes, 16) != 16 || read(fd, bytes, 4096) != 4096 || lseek(fd, x % 4096, SEEK_SET) < 0 ||
        read(fd, bytes, 1 + x % 8192) < 0 || close(fd))
        return -1;
    return write(log, bytes, 20 + x % 60) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
    char path[300];
    if (argc < 2)
        return 2;
    const long visits = bench_argument(argc, argv, 2, 100000);
    const int log = prepare(argv[1]);
    if (log < 0)
        return 3;
    uint32_t x = 9;
    const struct bench from = bench_now();
    for (long i = 0; i < visits; i++) {
        x = x * 1664525u + 1013904223u;
        snprintf(path, sizeof path, "%s/image-%04u.jpg", argv[1], (x >> 10) % FILES);
        if (visit(path, log, x >> 8))
            return 4;
    }
    bench_print(from, (uint64_t)visits);
    return 0;
}
