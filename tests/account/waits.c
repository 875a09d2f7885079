/* SPDX-License-Identifier: MIT
 *
 * waits.c - waits of known length, one after another in the main thread, as the arguments say:
 *
 *   waits sleep=300 lock=200 compute=400 pipe=250 reader=200 child=300 server=200 cond=150 file=100
 *   waits thread sleep=300 ...
 *
 * Numbers are milliseconds; "thread" has them all in a second thread, which the main thread joins. It prints lines as
 * planted.h says. What else a wait needs (fork, thread_create) is not part of it: on a busy machine that takes
 * milliseconds, and the account rightly calls it something else.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "planted.h"

static void reap(pid_t pid)
{
    const struct watch since = begin(CLOCK_MONOTONIC);
    waitpid(pid, NULL, 0);
    took("child", &since);
}

/* ---- others that are waited for ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stage, signalled;

static void *hold_lock(void *ms)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&gate);
    stage = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&gate);
    pause_ms((long)(intptr_t)ms);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void wait_for_lock(long ms)
{
    pthread_t thread;
    stage = 0;
    pthread_create(&thread, NULL, hold_lock, (void *)(intptr_t)ms);
    const struct watch since = begin(CLOCK_MONOTONIC);
    pthread_mutex_lock(&gate);
    while (!stage)
        pthread_cond_wait(&changed, &gate);
    pthread_mutex_unlock(&gate);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    took("lock", &since);
}

static void *signal_later(void *ms)
{
    pause_ms((long)(intptr_t)ms);
    pthread_mutex_lock(&gate);
    signalled = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&gate);
    return NULL;
}

static void wait_for_condition(long ms)
{
    pthread_t thread;
    signalled = 0;
    pthread_create(&thread, NULL, signal_later, (void *)(intptr_t)ms);
    const struct watch since = begin(CLOCK_MONOTONIC);
    pthread_mutex_lock(&gate);
    while (!signalled)
        pthread_cond_wait(&changed, &gate);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    took("cond", &since);
}

static void wait_for_pipe(long ms)
{
    int ends[2];
    char byte;
    if (pipe(ends) < 0)
        exit(3);
    const pid_t pid = fork();
    if (pid == 0) {
        pause_ms(ms);
        _exit(write(ends[1], "x", 1) != 1);
    }
    const struct watch since = begin(CLOCK_MONOTONIC);
    if (read(ends[0], &byte, 1) != 1)
        exit(3);
    took("pipe", &since);
    close(ends[0]);
    close(ends[1]);
    reap(pid);
}

/* A reader that takes what fills the pipe every 20 ms: the writer waits for it. */
static void wait_for_reader(long ms)
{
    static char bytes[65536];
    const struct timespec pace = {0, 20000000};
    int ends[2];
    if (pipe(ends) < 0)
        exit(3);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        do
            nanosleep(&pace, NULL);
        while (read(ends[0], bytes, sizeof bytes) > 0);
        _exit(0);
    }
    close(ends[0]);
    const struct watch since = begin(CLOCK_MONOTONIC);
    for (const long end = now_ns(CLOCK_MONOTONIC) + ms * 1000000; now_ns(CLOCK_MONOTONIC) < end;)
        if (write(ends[1], bytes, sizeof bytes) != (ssize_t)sizeof bytes)
            exit(3);
    took("reader", &since);
    close(ends[1]);
    reap(pid);
}

static void wait_for_child(long ms)
{
    const pid_t pid = fork();
    if (pid == 0) {
        pause_ms(ms);
        _exit(0);
    }
    reap(pid);
}

static void wait_for_server(long ms)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    char byte = 'q';
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) < 0)
        exit(3);
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = accept(listener, NULL, NULL);
        if (recv(fd, &byte, 1, 0) != 1)
            _exit(1);
        pause_ms(ms);
        _exit(send(fd, &byte, 1, 0) != 1);
    }
    const struct watch since = begin(CLOCK_MONOTONIC);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, length) < 0 || send(fd, &byte, 1, 0) != 1 ||
        recv(fd, &byte, 1, 0) != 1)
        exit(3);
    took("server", &since);
    close(fd);
    close(listener);
    reap(pid);
}

static void sleep_for(long ms)
{
    const struct watch since = begin(CLOCK_MONOTONIC);
    pause_ms(ms);
    took("sleep", &since);
}

/* Of a file that lies in memory: the work of a call is part of it, too. */
static void read_file(long ms)
{
    static char bytes[1 << 20];
    const int fd = open("/usr/bin/python3", O_RDONLY); /* megabytes: what is around a short call is a part of its own */
    const struct watch since = begin(CLOCK_MONOTONIC);
    for (const long end = now_ns(CLOCK_MONOTONIC) + ms * 1000000; now_ns(CLOCK_MONOTONIC) < end;)
        for (int i = 0; i < 100; i++)
            if (pread(fd, bytes, sizeof bytes, 0) <= 0)
                exit(3);
    took("file", &since);
    close(fd);
}

/* Computing is judged by the CPU time that it got, waiting by the clock. */
static void compute_for(long ms)
{
    const struct watch since = begin(CLOCK_THREAD_CPUTIME_ID);
    compute_ms(ms);
    took("compute", &since);
}

static const struct {
    const char *name;
    void (*wait)(long ms);
} waits[] = {
    {"sleep", sleep_for},        {"lock", wait_for_lock},   {"cond", wait_for_condition},
    {"pipe", wait_for_pipe},     {"child", wait_for_child}, {"server", wait_for_server},
    {"reader", wait_for_reader}, {"file", read_file},       {"compute", compute_for},
};

static void *run(void *arguments)
{
    for (char **argument = arguments; *argument; argument++) {
        const char *value = strchr(*argument, '=');
        for (size_t j = 0; value && j < sizeof waits / sizeof *waits; j++)
            if (!strncmp(*argument, waits[j].name, (size_t)(value - *argument)))
                waits[j].wait(atol(value + 1));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 2 || strcmp(argv[1], "thread") != 0) {
        run(argv + 1);
        return 0;
    }
    const struct watch since = begin(CLOCK_MONOTONIC);
    if (pthread_create(&thread, NULL, run, argv + 2) || pthread_join(thread, NULL))
        return 3;
    took("join", &since);
    return 0;
}
