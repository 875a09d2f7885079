/* SPDX-License-Identifier: MIT
 *
 * b_hooks.c - one call of a hook that could wait and does not: what is measured is the hook, and no waiting.
 * usage: b_hooks rwlock|semaphore|signal|condition|epoll|select|sleep|step|waitpid|connect [CALLS]
 */
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int pipe_ends[2], epoll_fd, listener;
static struct sockaddr_in address;
static pid_t child;
static const struct timespec long_ago = {1, 0};

static int no_setup(void)
{
    return 0;
}

static int rwlock_pair(void)
{
    return pthread_rwlock_rdlock(&rwlock) || pthread_rwlock_unlock(&rwlock);
}

static int semaphore_setup(void)
{
    return sem_init(&semaphore, 0, 0);
}

static int semaphore_pair(void)
{
    return sem_post(&semaphore) || sem_wait(&semaphore);
}

static int signal_nobody(void)
{
    return pthread_cond_signal(&condition);
}

static int condition_setup(void)
{
    return pthread_mutex_lock(&mutex);
}

static int condition_late(void)
{
    return !pthread_cond_timedwait(&condition, &mutex, &long_ago);
}

static int epoll_setup(void)
{
    struct epoll_event readable = {.events = EPOLLIN};
    epoll_fd = epoll_create1(0);
    return pipe(pipe_ends) || epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_ends[0], &readable);
}

static int epoll_nothing(void)
{
    struct epoll_event event;
    return epoll_wait(epoll_fd, &event, 1, 0);
}

static int select_nothing(void)
{
    fd_set readable;
    struct timeval at_once = {0, 0};
    FD_ZERO(&readable);
    FD_SET(pipe_ends[0], &readable);
    return select(pipe_ends[0] + 1, &readable, NULL, NULL, &at_once);
}

static int sleep_until_past(void)
{
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &long_ago, NULL);
}

/* About a millisecond of computing, then a wait that is long enough for a reading of the thread's clock behind it. */
static int step(void)
{
    static volatile double sum;
    const struct timespec pause = {.tv_nsec = 300000};
    for (int i = 0; i < 500000; i++)
        sum = sum + i;
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static void end_child(void)
{
    kill(child, SIGKILL);
}

static int child_setup(void)
{
    child = fork();
    if (child == 0) {
        execlp("sleep", "sleep", "100", (char *)NULL);
        _exit(127);
    }
    return child < 0 || atexit(end_child);
}

static int child_lives(void)
{
    return waitpid(child, NULL, WNOHANG);
}

static int connect_setup(void)
{
    socklen_t bytes = sizeof address;
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    listener = socket(AF_INET, SOCK_STREAM, 0);
    return listener < 0 || bind(listener, (const struct sockaddr *)&address, bytes) || listen(listener, 16) ||
           getsockname(listener, (struct sockaddr *)&address, &bytes);
}

/* Closed by a reset: no port is left waiting for late packets. */
static int connection(void)
{
    const struct linger reset = {1, 0};
    const int here = socket(AF_INET, SOCK_STREAM, 0);
    if (here < 0 || connect(here, (const struct sockaddr *)&address, sizeof address))
        return -1;
    const int there = accept(listener, NULL, NULL);
    return there < 0 || setsockopt(here, SOL_SOCKET, SO_LINGER, &reset, sizeof reset) || close(here) || close(there);
}

static const struct {
    const char *name;
    int (*setup)(void), (*call)(void); /* 0 = as it should be */
} kinds[] = {
    {"rwlock", no_setup, rwlock_pair},     {"semaphore", semaphore_setup, semaphore_pair},
    {"signal", no_setup, signal_nobody},   {"condition", condition_setup, condition_late},
    {"epoll", epoll_setup, epoll_nothing}, {"select", epoll_setup, select_nothing},
    {"sleep", no_setup, sleep_until_past}, {"step", no_setup, step},
    {"waitpid", child_setup, child_lives}, {"connect", connect_setup, connection},
};

static int repeat(int (*call)(void), long calls)
{
    for (long i = 0; i < calls; i++)
        if (call())
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    const long calls = bench_argument(argc, argv, 2, 1000000);
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(argv[1], kinds[i].name))
            continue;
        if (kinds[i].setup() || repeat(kinds[i].call, 100))
            return 3;
        const struct bench from = bench_now();
        if (repeat(kinds[i].call, calls))
            return 4;
        bench_print(from, (uint64_t)calls);
        return 0;
    }
    return 2;
}
