/* SPDX-License-Identifier: MIT
 *
 * waits.c - waits of known length, one after another in the main thread, as the arguments say:
 *
 *   waits sleep=300 lock=200 compute=400 pipe=250 child=300 server=200 cond=150 read=FILE
 *
 * Numbers are milliseconds. It prints, in nanoseconds by its own clock, how long each took ("part ns" lines); computing
 * by the CPU time that it got. What else a wait needs (fork, thread_create) is not part of it: on a busy machine that
 * takes milliseconds, and the account rightly calls it something else.
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
#include <time.h>
#include <unistd.h>

static long now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void pause_ms(long ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&length, NULL);
}

/* Until the thread has used that much CPU: another program on the machine must not shorten it. */
static volatile unsigned long sink;
__attribute__((noinline)) static void compute_ms(long ms)
{
    const long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        for (int i = 0; i < 200000; i++)
            sink += (unsigned long)i * 2654435761u;
}

static void took(const char *part, clockid_t clock, long start_ns)
{
    printf("%s %ld\n", part, now_ns(clock) - start_ns);
}

static void reap(pid_t pid)
{
    const long start = now_ns(CLOCK_MONOTONIC);
    waitpid(pid, NULL, 0);
    took("child", CLOCK_MONOTONIC, start);
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
    const long start = now_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&gate);
    while (!stage)
        pthread_cond_wait(&changed, &gate);
    pthread_mutex_unlock(&gate);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    took("lock", CLOCK_MONOTONIC, start);
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
    const long start = now_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&gate);
    while (!signalled)
        pthread_cond_wait(&changed, &gate);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
    took("cond", CLOCK_MONOTONIC, start);
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
    const long start = now_ns(CLOCK_MONOTONIC);
    if (read(ends[0], &byte, 1) != 1)
        exit(3);
    took("pipe", CLOCK_MONOTONIC, start);
    close(ends[0]);
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
    const long start = now_ns(CLOCK_MONOTONIC);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, length) < 0 || send(fd, &byte, 1, 0) != 1 ||
        recv(fd, &byte, 1, 0) != 1)
        exit(3);
    took("server", CLOCK_MONOTONIC, start);
    close(fd);
    close(listener);
    reap(pid);
}

static void sleep_for(long ms)
{
    const long start = now_ns(CLOCK_MONOTONIC);
    pause_ms(ms);
    took("sleep", CLOCK_MONOTONIC, start);
}

/* Computing is judged by the CPU time that it got, waiting by the clock. */
static void compute_for(long ms)
{
    const long start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    compute_ms(ms);
    took("compute", CLOCK_THREAD_CPUTIME_ID, start);
}

static const struct {
    const char *name;
    void (*wait)(long ms);
} waits[] = {
    {"sleep", sleep_for},      {"lock", wait_for_lock},     {"cond", wait_for_condition}, {"pipe", wait_for_pipe},
    {"child", wait_for_child}, {"server", wait_for_server}, {"compute", compute_for},
};

/* A buffer that children inherit would be written by them, too. */
int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        for (size_t j = 0; value && j < sizeof waits / sizeof *waits; j++)
            if (!strncmp(argv[i], waits[j].name, (size_t)(value - argv[i])))
                waits[j].wait(atol(value + 1));
    }
    return 0;
}
