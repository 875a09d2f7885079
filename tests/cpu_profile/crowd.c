/* SPDX-License-Identifier: MIT
 *
 * crowd.c - threads that take jobs from a queue and wait thousands of times a second, and now and then for long, in
 * wait_long. Prints how many seconds those were together.   usage: crowd SECONDS
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 20, LONG_THREADS = 4, JOBS_BETWEEN = 60 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_job = PTHREAD_COND_INITIALIZER;
static int jobs, is_over;
static atomic_long long_ns;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

void wait_long(void);

__attribute__((noinline)) void wait_long(void)
{
    const int64_t start_ns = now_ns();
    pause_us(250000);
    long_ns += now_ns() - start_ns;
}

static int take_job(void)
{
    pthread_mutex_lock(&lock);
    while (!jobs && !is_over)
        pthread_cond_wait(&is_job, &lock);
    const int is_taken = jobs > 0;
    jobs -= is_taken;
    pthread_mutex_unlock(&lock);
    return is_taken;
}

static void *work(void *number)
{
    for (int done = 0; take_job(); done++) {
        pause_us(200);
        if ((intptr_t)number < LONG_THREADS && done % JOBS_BETWEEN == JOBS_BETWEEN / 2)
            wait_long();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    const int64_t end_ns = now_ns() + (int64_t)(argc > 1 ? atof(argv[1]) * 1e9 : 1e9);
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 3;
    while (now_ns() < end_ns) {
        pthread_mutex_lock(&lock);
        jobs++;
        pthread_cond_signal(&is_job);
        pthread_mutex_unlock(&lock);
        pause_us(200);
    }
    pthread_mutex_lock(&lock);
    is_over = 1;
    pthread_cond_broadcast(&is_job);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("wait_long %.6f\n", (double)long_ns / 1e9);
    return 0;
}
