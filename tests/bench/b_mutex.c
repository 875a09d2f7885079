/* SPDX-License-Identifier: MIT
 *
 * b_mutex.c - L1: pthread_mutex_lock and unlock in pairs, nobody else wants the mutex. "alone": the process has one
 * thread, and libc locks without an atomic operation; "beside": a second thread sleeps.
 * usage: b_mutex alone|beside [PAIRS]
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *sleep_on(void *unused)
{
    pause();
    return unused;
}

int main(int argc, char **argv)
{
    const long pairs = bench_argument(argc, argv, 2, 10000000);
    pthread_t beside;
    if (argc < 2 || (!strcmp(argv[1], "beside") && pthread_create(&beside, NULL, sleep_on, NULL)))
        return 2;
    const struct bench from = bench_now();
    for (long i = 0; i < pairs; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    bench_print(from, (uint64_t)pairs);
    return 0;
}
