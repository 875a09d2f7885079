/* SPDX-License-Identifier: MIT
 * Four threads, each of which writes out its results under one lock (a device that takes 2 ms); with --fixed only the
 * counter is under the lock. */
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool fixed;
static long results;

static void *work(void *unused)
{
    for (int i = 0; i < 250; i++) {
        if (fixed)
            usleep(2000);
        pthread_mutex_lock(&lock);
        if (!fixed)
            usleep(2000);
        results++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[4];
    (void)argv;
    fixed = argc > 1;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return results != 1000;
}
