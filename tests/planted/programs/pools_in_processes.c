/* SPDX-License-Identifier: MIT
 * Twice as many processes as CPUs, each with small parallel loops of OpenMP, which has a thread for each CPU: none of
 * them has too many, all of them together have. The fixed ones have one thread each. They take loops from one heap: two
 * whose threads ran side by side by luck would else end early, and leave no more threads than twice the CPUs. */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOOPS = 3000, SIZE = 20000 };

static double numbers[SIZE];

/* On a large machine there would be thousands of threads. */
static void use_few_cpus(void)
{
    enum { MOST_CPUS = 4 };
    cpu_set_t all, few;
    CPU_ZERO(&few);
    if (sched_getaffinity(0, sizeof all, &all))
        exit(3);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&few) < MOST_CPUS; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &few);
    if (sched_setaffinity(0, sizeof few, &few))
        exit(3);
}

static void work(int threads, atomic_int *loops_left)
{
    omp_set_num_threads(threads);
    while (atomic_fetch_sub(loops_left, 1) > 0) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < SIZE; i++)
            numbers[i] = numbers[i] * 0.5 + i;
    }
}

int main(int argc, char **argv)
{
    const int is_fixed = argc > 1 && !strcmp(argv[1], "--fixed");
    use_few_cpus();
    const int cpus = omp_get_num_procs();
    atomic_int *const loops_left =
        mmap(NULL, sizeof *loops_left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (loops_left == MAP_FAILED)
        return 3;
    atomic_init(loops_left, LOOPS * 2 * cpus);
    for (int i = 0; i < 2 * cpus; i++) {
        const pid_t pid = fork();
        if (pid < 0)
            return 3;
        if (!pid) {
            work(is_fixed ? 1 : cpus, loops_left);
            return 0;
        }
    }
    while (wait(NULL) > 0)
        ;
    printf("%f\n", numbers[0]);
    return 0;
}
