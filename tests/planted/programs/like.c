/* SPDX-License-Identifier: MIT
 *
 * What only looks like a bottleneck of threads or memory: it does what a rule counts, but nothing that its remedy would
 * make faster.   like RULE */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 16, ROUNDS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile long results;

static void compute(long milliseconds)
{
    volatile long sum = 0;
    for (long i = 0; i < milliseconds * 400000; i++)
        sum += i;
}

/* Holds the lock for an instant after each piece of work. */
static void *short_lock(void *unused)
{
    for (int i = 0; i < 300; i++) {
        compute(2);
        pthread_mutex_lock(&lock);
        results++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *equal_shares(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        compute(20);
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

static void *small_share(void *unused)
{
    compute(600);
    return unused;
}

static void *own_work(void *unused)
{
    compute(800);
    return unused;
}

static void *waits(void *unused)
{
    usleep(900000);
    return unused;
}

static int run(void *(*work)(void *), void *(*rest)(void *), long n, long n_rest)
{
    pthread_t threads[2 * MOST_THREADS];
    for (long i = 0; i < n + n_rest; i++)
        pthread_create(&threads[i], NULL, i < n ? work : rest, NULL);
    for (long i = 0; i < n + n_rest; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Touches what it has mapped once, and works with it then. */
static int touch_once(void)
{
    enum { BYTES = 128 << 20 };
    char *memory = malloc(BYTES);
    memset(memory, 1, BYTES);
    compute(1500);
    return memory[BYTES - 1] != 1;
}

int main(int argc, char **argv)
{
    const char *rule = argc > 1 ? argv[1] : "";
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN), most = cpus < MOST_THREADS ? cpus : MOST_THREADS;
    pthread_barrier_init(&barrier, NULL, 2);
    if (!strcmp(rule, "lock_convoy"))
        return run(short_lock, NULL, most, 0);
    if (!strcmp(rule, "thread_imbalance"))
        return run(equal_shares, NULL, 2, 0);
    if (!strcmp(rule, "oversubscribed_threads")) /* many, of which as many compute as there are CPUs */
        return run(own_work, waits, most, MOST_THREADS);
    if (!strcmp(rule, "independent_threads")) /* many more than CPUs, none of which needs another one */
        return run(small_share, NULL, MOST_THREADS, 0);
    return touch_once();
}
