/* SPDX-License-Identifier: MIT
 *
 * Takes and gives back blocks, as in a list of requests, and computes; prints the CPU seconds of the first.
 * usage: account_heap PAIRS SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noinline)) static void allocate(long pairs)
{
    enum { KEPT = 64 };
    void *kept[KEPT] = {NULL};
    for (long i = 0; i < pairs; i++) {
        free(kept[i % KEPT]);
        kept[i % KEPT] = malloc(24 + (size_t)(i % 7) * 16);
        __asm__ volatile("" : : "r"(kept) : "memory");
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
}

__attribute__((noinline)) static void compute(double seconds)
{
    volatile double x = 1;
    for (const double start_s = cpu_s(); cpu_s() - start_s < seconds;)
        for (int i = 0; i < 100000; i++)
            x = x * 1.0000001 + 1e-9;
}

int main(int argc, char **argv)
{
    const double start_s = cpu_s();
    allocate(argc > 1 ? atol(argv[1]) : 1);
    printf("%.6f\n", cpu_s() - start_s);
    compute(argc > 2 ? atof(argv[2]) : 0);
    return 0;
}
