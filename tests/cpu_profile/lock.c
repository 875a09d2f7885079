/* SPDX-License-Identifier: MIT
 *
 * lock.c - a main thread that waits for others: a little for a semaphore that nobody posts, then for a lock that
 * "keeper" holds while it computes in burn_while_held and sleeps in sleep_while_held (a third of the time), then for
 * "sleeper", which it joins.   usage: lock SECONDS
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 25 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held, is_done;
static double seconds;
static volatile uint64_t sink;

static double now_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void burn_while_held(double), sleep_while_held(double);

__attribute__((noinline)) void burn_while_held(double length_s)
{
    uint64_t x = 1;
    for (const double end_s = now_s(CLOCK_THREAD_CPUTIME_ID) + length_s; now_s(CLOCK_THREAD_CPUTIME_ID) < end_s;)
        for (int i = 0; i < 20000; i++)
            x = x * 6364136223846793005ull + 1;
    sink += x;
}

__attribute__((noinline)) void sleep_while_held(double length_s)
{
    usleep((useconds_t)(length_s * 1e6));
    sink++;
}

static void *keep(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        sem_post(&is_held);
        burn_while_held(seconds * 2 / 3 / ROUNDS);
        sleep_while_held(seconds / 3 / ROUNDS);
        pthread_mutex_unlock(&lock);
        sem_wait(&is_done);
    }
    return unused;
}

static void *sleep_on(void *unused)
{
    for (int i = 0; i < 10; i++)
        usleep((useconds_t)(seconds / 2 / 10 * 1e6));
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t keeper, sleeper;
    seconds = argc > 1 ? atof(argv[1]) : 1;
    sem_init(&is_held, 0, 0);
    sem_init(&is_done, 0, 0);
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += (soon.tv_nsec + 50000000) / 1000000000;
    soon.tv_nsec = (soon.tv_nsec + 50000000) % 1000000000;
    sem_timedwait(&is_held, &soon);
    if (pthread_create(&keeper, NULL, keep, NULL))
        return 3;
    pthread_setname_np(keeper, "keeper");
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&is_held);
        pthread_mutex_lock(&lock); // in main
        pthread_mutex_unlock(&lock);
        sem_post(&is_done);
    }
    pthread_join(keeper, NULL);
    if (pthread_create(&sleeper, NULL, sleep_on, NULL))
        return 3;
    pthread_setname_np(sleeper, "sleeper");
    pthread_join(sleeper, NULL);
    return 0;
}
