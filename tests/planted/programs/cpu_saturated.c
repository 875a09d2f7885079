/* SPDX-License-Identifier: MIT
 * One thread more than there are CPUs computes; with --fixed a single one.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *compute(void *end_s)
{
    for (unsigned long i = 0; now_s() < *(double *)end_s; i++)
        for (int k = 0; k < 100000; k++)
            sink = i * (unsigned long)k;
    return NULL;
}

int main(int argc, char **argv)
{
    const long others = argc > 1 ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
    double end_s = now_s() + 3;
    pthread_t threads[1024];
    long n = 0;
    (void)argv;
    while (n < others && n < 1024 && pthread_create(&threads[n], NULL, compute, &end_s) == 0)
        n++;
    compute(&end_s);
    while (n > 0)
        pthread_join(threads[--n], NULL);
    return 0;
}
