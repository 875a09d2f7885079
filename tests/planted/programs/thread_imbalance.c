/* SPDX-License-Identifier: MIT
 * Two threads share each of twenty rounds of work that a device does, and meet at a barrier: one has nine tenths of
 * it; with --fixed each has half. */
#include <pthread.h>
#include <unistd.h>

enum { ROUNDS = 20, ROUND_US = 100000 };

static pthread_barrier_t barrier;

static void *work(void *share)
{
    for (int i = 0; i < ROUNDS; i++) {
        usleep((useconds_t)(ROUND_US * *(const double *)share));
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    double shares[2] = {argc > 1 ? 0.5 : 0.9, argc > 1 ? 0.5 : 0.1};
    (void)argv;
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &shares[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
