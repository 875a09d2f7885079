/* SPDX-License-Identifier: MIT
 *
 * touches.c - reads a mapped file that is not in memory, page by page, without a call:
 *
 *   touches FILE PAGES
 *
 * FILE is made when it is not there; then it is dropped from memory and PAGES of it are touched, each once. Prints by
 * its own clock and those of the kernel "touching NS", "on_cpu NS", "queued NS" (waiting for a CPU) and "major N"
 * faults.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define APART (16 << 10)

static long now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static long major_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_majflt;
}

static long queued_ns(void)
{
    unsigned long long on = 0, queued = 0;
    FILE *file = fopen("/proc/self/schedstat", "r");
    if (!file || fscanf(file, "%llu %llu", &on, &queued) != 2)
        exit(3);
    fclose(file);
    return (long)queued;
}

static int open_cold(const char *path, long pages)
{
    static char block[APART];
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        exit(3);
    memset(block, 'x', sizeof block);
    for (long i = lseek(fd, 0, SEEK_END) / APART; i < pages; i++)
        if (write(fd, block, sizeof block) != (ssize_t)sizeof block)
            exit(3);
    if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
        exit(3);
    return fd;
}

static volatile unsigned long sink;

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const long pages = atol(argv[2]);
    const int fd = open_cold(argv[1], pages);
    char *data = mmap(NULL, (size_t)pages * APART, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED || madvise(data, (size_t)pages * APART, MADV_RANDOM))
        return 3;
    const long majors = major_faults(), queued = queued_ns();
    const long cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), start = now_ns(CLOCK_MONOTONIC);
    for (long i = 0, at = 0; i < pages; i++, at = (at + 7919) % pages)
        sink += (unsigned long)*(volatile char *)&data[at * APART];
    printf("touching %ld\n", now_ns(CLOCK_MONOTONIC) - start);
    printf("on_cpu %ld\n", now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    printf("queued %ld\n", queued_ns() - queued);
    printf("major %ld\n", major_faults() - majors);
    return 0;
}
