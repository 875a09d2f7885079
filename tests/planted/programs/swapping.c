/* SPDX-License-Identifier: MIT
 * Goes over 160 MiB in a control group of 128 MiB, so that each page is fetched from swap space again; with --fixed
 * over 40 MiB, as often. (The runner makes the group and the swap space.)
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { MIB = 1 << 20, PAGE = 4096, SECONDS = 3 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    const size_t size = (argc > 1 ? 40 : 160) * (size_t)MIB;
    volatile unsigned char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)argv;
    if (memory == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < size; i++) /* not to be had for less than a page */
        memory[i] = (unsigned char)(i * 2654435761u >> 13);
    const double end_s = now_s() + SECONDS;
    while (now_s() < end_s)
        for (size_t at = 0; at < size; at += PAGE)
            memory[at]++;
    return 0;
}
