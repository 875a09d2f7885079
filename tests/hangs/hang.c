/* SPDX-License-Identifier: MIT
 *
 * hang.c - programs that hang, by their first argument. Each writes "ready" once its threads are about to hang.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t all_hold;
static long n_threads;
static volatile unsigned long turns;

__attribute__((noinline)) static void take_second(long i)
{
    pthread_mutex_lock(&locks[(i + 1) % n_threads]);
    turns++;
}

static void *worker(void *number)
{
    const long i = (long)number;
    pthread_mutex_lock(&locks[i]);
    pthread_barrier_wait(&all_hold);
    take_second(i);
    return NULL;
}

static int deadlock(long n)
{
    pthread_t threads[3];
    n_threads = n;
    pthread_barrier_init(&all_hold, NULL, (unsigned)n + 1);
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    pthread_barrier_wait(&all_hold);
    puts("ready");
    fflush(stdout);
    for (long i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* Its holder sleeps, and goes on in the end: slow, but no deadlock. */
static void *slow_holder(void *unused)
{
    pthread_mutex_lock(&locks[0]);
    pthread_barrier_wait(&all_hold);
    sleep(600);
    pthread_mutex_unlock(&locks[0]);
    return unused;
}

static int slow(void)
{
    pthread_t thread;
    n_threads = 1;
    pthread_barrier_init(&all_hold, NULL, 2);
    pthread_create(&thread, NULL, slow_holder, NULL);
    pthread_barrier_wait(&all_hold);
    puts("ready");
    fflush(stdout);
    take_second(0);
    return 0;
}

__attribute__((noinline)) static int spin(void)
{
    puts("ready");
    fflush(stdout);
    while (turns < ~0ul)
        turns++;
    return 0;
}

static int stopped_child(void)
{
    const pid_t child = fork();
    if (!child) {
        for (;;)
            pause();
    }
    printf("ready %d\n", (int)child);
    fflush(stdout);
    return waitpid(child, NULL, 0) < 0;
}

/* ---- locks that nobody can give back ---- */

__attribute__((noinline)) static void lock_in_child(void)
{
    pthread_mutex_lock(&locks[0]);
    turns++;
}

/* The thread that has the lock is not in the child. */
static int forked(void)
{
    pthread_t thread;
    pthread_barrier_init(&all_hold, NULL, 2);
    pthread_create(&thread, NULL, slow_holder, NULL);
    pthread_barrier_wait(&all_hold);
    const pid_t child = fork();
    if (!child) {
        lock_in_child();
        _exit(0);
    }
    puts("ready");
    fflush(stdout);
    return waitpid(child, NULL, 0) < 0;
}

static void *forgets(void *unused)
{
    pthread_mutex_lock(&locks[0]);
    return unused;
}

__attribute__((noinline)) static int after_it_ended(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, forgets, NULL);
    pthread_join(thread, NULL);
    puts("ready");
    fflush(stdout);
    pthread_mutex_lock(&locks[0]);
    return (int)turns;
}

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static void *look_up(void *unused)
{
    pthread_rwlock_rdlock(&table);
    turns++;
    return unused;
}

__attribute__((noinline)) static int update(void)
{
    pthread_t thread;
    pthread_rwlock_wrlock(&table);
    pthread_create(&thread, NULL, look_up, NULL);
    puts("ready");
    fflush(stdout);
    return pthread_join(thread, NULL);
}

/* ---- nobody sends ---- */

static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

__attribute__((noinline)) static int wait_for_news(void)
{
    pthread_mutex_lock(&locks[0]);
    puts("ready");
    fflush(stdout);
    while (!turns)
        pthread_cond_wait(&never, &locks[0]);
    return 0;
}

__attribute__((noinline)) static void fill(int fd)
{
    static char much[1 << 20];
    size_t written = 0;
    while (written < sizeof much) { /* stopped in it, the call returns what it has written */
        const ssize_t n = write(fd, much + written, sizeof much - written);
        if (n <= 0)
            return;
        written += (size_t)n;
    }
}

/* Both write, and nobody reads. */
static int pipes(void)
{
    int there[2], back[2];
    if (pipe(there) || pipe(back))
        return 1;
    const pid_t child = fork();
    close(there[child ? 0 : 1]);
    close(back[child ? 1 : 0]);
    if (child) {
        puts("ready");
        fflush(stdout);
    }
    fill(child ? there[1] : back[1]);
    return 0;
}

static int zombie(void)
{
    const pid_t child = fork();
    if (!child)
        _exit(0);
    printf("ready %d\n", (int)child);
    fflush(stdout);
    return (int)sleep(600);
}

/* 2,000 threads: one computes, 39 wait for its mutex, the others for a signal. */
static void *one_of_many(void *number)
{
    static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
    pthread_barrier_wait(&all_hold);
    if ((long)number % 50)
        pause();
    pthread_mutex_lock(&never);
    for (;;)
        turns++;
    return NULL;
}

static int crowd(void)
{
    enum { THREADS = 2000 };
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all_hold, NULL, THREADS + 1);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&thread, &small, one_of_many, (void *)i)) {
            printf("impossible here: only %ld threads could be made\n", i);
            return 77;
        }
    pthread_barrier_wait(&all_hold);
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}

/* The main thread ends, and another one waits for what nobody will write. */
__attribute__((noinline)) static long wait_for_byte(const int *ends)
{
    char byte;
    return read(ends[0], &byte, 1) + 1;
}

static void *be_left(void *unused)
{
    int ends[2];
    if (pipe(ends))
        return unused;
    puts("ready");
    fflush(stdout);
    turns += (unsigned long)wait_for_byte(ends);
    return NULL;
}

static int leave(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, be_left, NULL);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    return !strcmp(what, "two")       ? deadlock(2)
           : !strcmp(what, "three")   ? deadlock(3)
           : !strcmp(what, "slow")    ? slow()
           : !strcmp(what, "spin")    ? spin()
           : !strcmp(what, "crowd")   ? crowd()
           : !strcmp(what, "stopped") ? stopped_child()
           : !strcmp(what, "zombie")  ? zombie()
           : !strcmp(what, "left")    ? leave()
           : !strcmp(what, "forked")  ? forked()
           : !strcmp(what, "ended")   ? after_it_ended()
           : !strcmp(what, "rwlock")  ? update()
           : !strcmp(what, "news")    ? wait_for_news()
           : !strcmp(what, "pipes")   ? pipes()
                                      : 2;
}
