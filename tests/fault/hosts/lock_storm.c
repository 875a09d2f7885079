/* SPDX-License-Identifier: MIT
 *
 * T14 for locks: eight threads on least stacks fight for three locks while the process forks; each child takes and
 * waits for locks of its own. Nobody hangs, and the counters that the locks guard are right.
 */
#include "host.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { THREADS = 8, ROUNDS = 20000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static long in_mutex, in_rwlock, in_semaphore;
static atomic_int done;

static void *fight(void *argument)
{
    for (long i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        in_mutex++;
        pthread_mutex_unlock(&mutex);
        pthread_rwlock_wrlock(&rwlock);
        in_rwlock++;
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        sem_wait(&semaphore);
        in_semaphore++;
        sem_post(&semaphore);
    }
    done++;
    return argument;
}

static void start(pthread_t *threads, int n)
{
    pthread_attr_t least;
    pthread_attr_init(&least);
    pthread_attr_setstacksize(&least, PTHREAD_STACK_MIN);
    for (int i = 0; i < n; i++)
        MUST(pthread_create(&threads[i], &least, fight, NULL) == 0);
}

/* The locks of the parent may be held for ever here; these are new. */
static int child(void)
{
    pthread_t threads[2];
    alarm(60);
    pthread_mutex_init(&mutex, NULL);
    pthread_rwlock_init(&rwlock, NULL);
    sem_init(&semaphore, 0, 1);
    in_mutex = 0;
    start(threads, 2);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return in_mutex != 2 * ROUNDS;
}

int main(int argc, char **argv)
{
    const int forks = argc > 1 ? atoi(argv[1]) : 10;
    pthread_t threads[THREADS];
    sem_init(&semaphore, 0, 1);
    start(threads, THREADS);
    for (int i = 0; i < forks; i++) {
        const pid_t pid = fork();
        if (!pid)
            _exit(child());
        MUST(wait_for(pid) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MUST(in_mutex == THREADS * ROUNDS && in_rwlock == THREADS * ROUNDS && in_semaphore == THREADS * ROUNDS);
    trace_must("wait_thread", "==", THREADS + 2 * forks);
    return host_broken;
}
