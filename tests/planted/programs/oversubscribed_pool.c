/* SPDX-License-Identifier: MIT
 * A main thread that computes, and many small parallel loops of OpenMP between: sixteen threads for each, whatever the
 * CPUs. The fixed one has one: two that spin for each other cannot be measured where anything else runs. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 6000, SIZE = 20000, ALONE = 120000, THREADS = 16 };

static double numbers[SIZE];

static double alone(double x)
{
    for (int i = 0; i < ALONE; i++)
        x = x * 0.999 + i;
    return x;
}

int main(int argc, char **argv)
{
    const int is_fixed = argc > 1 && !strcmp(argv[1], "--fixed");
    double sum = 0;
    omp_set_num_threads(is_fixed ? 1 : THREADS);
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < SIZE; i++)
            numbers[i] = numbers[i] * 0.5 + i;
        sum += alone(numbers[step % SIZE]);
    }
    printf("%f\n", sum);
    return 0;
}
