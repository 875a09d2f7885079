/* SPDX-License-Identifier: MIT
 * A loop with a barrier after each step, as OpenMP does it, on 24 threads; with --fixed on as many as there are CPUs.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 1600, WORK = 800000 };
static int n_threads;
static atomic_int arrived, step;
static _Thread_local volatile long sink;

static void spin_barrier(void)
{
    const int now = atomic_load(&step);
    if (atomic_fetch_add(&arrived, 1) + 1 == n_threads) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&step, 1);
        return;
    }
    for (int spins = 0; atomic_load(&step) == now; spins++)
        if (spins % 20000 == 19999)
            sched_yield();
}

static void *work(void *unused)
{
    for (int i = 0; i < STEPS; i++) {
        for (int j = 0; j < WORK / n_threads; j++)
            sink++;
        spin_barrier();
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[24];
    (void)argv;
    n_threads = argc > 1 ? (int)sysconf(_SC_NPROCESSORS_ONLN) : 24;
    n_threads = n_threads > 24 ? 24 : n_threads;
    for (int i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
