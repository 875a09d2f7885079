/* SPDX-License-Identifier: MIT
 *
 * across.c - a wait that goes through three processes and threads that are not the main ones:
 *
 *   the first process waits for a pipe: "pipe"
 *   the second one sleeps, computes, waits for a lock that a thread of its own holds, and then for an answer over
 *     loopback: "sleep", "compute", "lock", "server"; then it writes to the pipe
 *   a second thread of the third one sleeps, computes, waits for a lock that its main thread holds, and answers:
 *     "sleep", "compute", "lock"; the main thread sleeps on after that, and nobody waits for it
 *
 * Lines as planted.h says, each with who tells it: "1", "2", "3" and the holders "2h" and "3h" after the part, "3m"
 * once nobody waits for it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "planted.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t held;
static struct sockaddr_in address = {.sin_family = AF_INET};
static int listener;

static void sleep_for(const char *part, long ms)
{
    const struct watch since = begin(CLOCK_MONOTONIC);
    pause_ms(ms);
    took(part, &since);
}

static void compute_for(const char *part, long ms)
{
    const struct watch since = begin(CLOCK_THREAD_CPUTIME_ID);
    compute_ms(ms);
    took(part, &since);
}

static void lock_and_wait(const char *part)
{
    pthread_barrier_wait(&held);
    const struct watch since = begin(CLOCK_MONOTONIC);
    pthread_mutex_lock(&mutex);
    took(part, &since);
    pthread_mutex_unlock(&mutex);
}

static void hold(const char *part, long ms)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&held);
    sleep_for(part, ms);
    pthread_mutex_unlock(&mutex);
}

/* ---- the third process ---- */

static void *answer(void *unused)
{
    char byte;
    const int fd = accept(listener, NULL, NULL);
    if (recv(fd, &byte, 1, 0) != 1)
        exit(3);
    sleep_for("sleep:3", 250);
    compute_for("compute:3", 200);
    lock_and_wait("lock:3");
    if (send(fd, &byte, 1, 0) != 1)
        exit(3);
    return unused;
}

static void third(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, answer, NULL);
    hold("sleep:3h", 180);
    sleep_for("sleep:3m", 300);
    pthread_join(thread, NULL);
    _exit(0);
}

/* ---- the second ---- */

static void *hold_in_second(void *unused)
{
    hold("sleep:2h", 200);
    return unused;
}

static void second(int to_first)
{
    char byte = 'q';
    pthread_t thread;
    sleep_for("sleep:2", 300);
    compute_for("compute:2", 250);
    pthread_create(&thread, NULL, hold_in_second, NULL);
    lock_and_wait("lock:2");
    pthread_join(thread, NULL);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        exit(3);
    const struct watch since = begin(CLOCK_MONOTONIC);
    if (send(fd, &byte, 1, 0) != 1 || recv(fd, &byte, 1, 0) != 1)
        exit(3);
    took("server:2", &since);
    if (write(to_first, &byte, 1) != 1)
        exit(3);
    _exit(0);
}

int main(void)
{
    socklen_t length = sizeof address;
    char byte;
    int ends[2];
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (pipe(ends) || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length) || pthread_barrier_init(&held, NULL, 2))
        return 3;
    if (fork() == 0)
        third();
    if (fork() == 0)
        second(ends[1]);
    const struct watch since = begin(CLOCK_MONOTONIC);
    if (read(ends[0], &byte, 1) != 1)
        return 3;
    took("pipe:1", &since);
    while (wait(NULL) > 0)
        ;
    return 0;
}
