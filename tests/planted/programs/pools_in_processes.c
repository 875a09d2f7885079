/* SPDX-License-Identifier: MIT
 * Twice as many processes as CPUs, each with small parallel loops of OpenMP, which has a thread for each CPU: none of
 * them has too many, all of them together have. The fixed ones have one thread each. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOPS = 3000, SIZE = 20000 };

static double numbers[SIZE];

static void work(int threads)
{
    omp_set_num_threads(threads);
    for (int loop = 0; loop < LOOPS; loop++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < SIZE; i++)
            numbers[i] = numbers[i] * 0.5 + i;
    }
}

int main(int argc, char **argv)
{
    const int is_fixed = argc > 1 && !strcmp(argv[1], "--fixed");
    const int cpus = omp_get_num_procs();
    for (int i = 0; i < 2 * cpus; i++)
        if (!fork()) {
            work(is_fixed ? 1 : cpus);
            return 0;
        }
    while (wait(NULL) > 0)
        ;
    printf("%f\n", numbers[0]);
    return 0;
}
