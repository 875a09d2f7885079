/* SPDX-License-Identifier: MIT
 *
 * wait.c - a program that knows where it waited: in functions of its own, for different things, each prints "name
 * seconds".
 *
 *     wait SECONDS        sleeps half of it, a fifth in many short sleeps; waits a fifth for a lock and a tenth for a
 * pipe
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fds[2], go_fds[2];
static double spent_s[4];

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void pause_s(double seconds)
{
    const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* The other side: keeps the lock, or the reader waiting, for the time it is told. */
static void *other_side(void *unused)
{
    double job[2];
    while (read(go_fds[0], job, sizeof job) == sizeof job) {
        if (job[0] > 0)
            pthread_mutex_lock(&lock);
        if (write(pipe_fds[1], "r", 1) != 1)
            return NULL;
        pause_s(job[0] + job[1]);
        if (job[0] > 0)
            pthread_mutex_unlock(&lock);
        else if (write(pipe_fds[1], "x", 1) != 1)
            return NULL;
    }
    return unused;
}

static void ask(double lock_s, double pipe_s)
{
    const double job[2] = {lock_s, pipe_s};
    char ready;
    if (write(go_fds[1], job, sizeof job) != sizeof job || read(pipe_fds[0], &ready, 1) != 1)
        exit(3);
}

void sleep_long(double), sleep_short(double), wait_lock(double), wait_pipe(double);

#define TIMED(index, action)                                                                                           \
    do {                                                                                                               \
        const double start_s = now_s();                                                                                \
        action;                                                                                                        \
        spent_s[index] += now_s() - start_s;                                                                           \
    } while (0)

__attribute__((noinline)) void sleep_long(double seconds)
{
    TIMED(0, pause_s(seconds));
}

__attribute__((noinline)) void sleep_short(double seconds)
{
    for (int i = 0; i < 10; i++)
        TIMED(1, pause_s(seconds / 10));
}

__attribute__((noinline)) void wait_lock(double seconds)
{
    ask(seconds, 0);
    TIMED(2, pthread_mutex_lock(&lock));
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) void wait_pipe(double seconds)
{
    char byte;
    ask(0, seconds);
    TIMED(3, if (read(pipe_fds[0], &byte, 1) != 1) exit(3));
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"sleep_long", "sleep_short", "wait_lock", "wait_pipe"};
    const double seconds = argc > 1 ? atof(argv[1]) : 1;
    const int rounds = 20;
    pthread_t thread;
    if (pipe(pipe_fds) || pipe(go_fds) || pthread_create(&thread, NULL, other_side, NULL))
        return 3;
    pthread_setname_np(thread, "other-side");
    for (int i = 0; i < rounds; i++) {
        sleep_long(seconds * .5 / rounds);
        sleep_short(seconds * .2 / rounds);
        wait_lock(seconds * .2 / rounds);
        wait_pipe(seconds * .1 / rounds);
    }
    close(go_fds[1]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 4; i++)
        printf("%s %.6f\n", names[i], spent_s[i]);
    return 0;
}
