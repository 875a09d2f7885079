/* SPDX-License-Identifier: MIT
 *
 * T13: waits that never return: threads are cancelled in each, handlers jump out of poll. Cleanups run, interrupted
 * calls end as the program asked for (EINTR, or restarted), and the thread is not deaf afterwards.
 */
#include "host.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

static int pipe_ends[2], pair[2], listener, epoll, cleaned, waiting;
static pid_t sleeper;
static sigjmp_buf back;
static volatile sig_atomic_t alarms;

static void cleanup(void *unused)
{
    (void)unused;
    __atomic_add_fetch(&cleaned, 1, __ATOMIC_SEQ_CST);
}

static void wait_for_descriptors(long way)
{
    struct pollfd one = {pipe_ends[0], POLLIN, 0};
    struct epoll_event event;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipe_ends[0], &set);
    if (way == 0)
        poll(&one, 1, -1);
    if (way == 1)
        ppoll(&one, 1, NULL, NULL);
    if (way == 2)
        select(pipe_ends[0] + 1, &set, NULL, NULL, NULL);
    if (way == 3)
        pselect(pipe_ends[0] + 1, &set, NULL, NULL, NULL, NULL);
    if (way == 4)
        epoll_wait(epoll, &event, 1, -1);
}

static void wait_for_time_and_signals(long way)
{
    const struct timespec long_time = {1000, 0};
    sigset_t signals;
    int taken;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    if (way == 5)
        nanosleep(&long_time, NULL);
    if (way == 6)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL);
    if (way == 7)
        sleep(1000);
    if (way == 8)
        pause();
    if (way == 9)
        sigwait(&signals, &taken);
    if (way == 10)
        sigtimedwait(&signals, NULL, &long_time);
    if (way == 11)
        sigsuspend(&signals);
}

static void wait_for_others(long way)
{
    char bytes[4];
    struct iovec vector = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    int status;
    if (way == 12)
        waitpid(sleeper, &status, 0);
    if (way == 13)
        waitid(P_PID, (id_t)sleeper, NULL, WEXITED);
    if (way == 14)
        recv(pair[0], bytes, 4, 0);
    if (way == 15)
        recvmsg(pair[0], &message, 0);
    if (way == 16)
        accept(listener, NULL, NULL);
}

enum { WAYS = 17 };

static void *wait_forever(void *way)
{
    pthread_cleanup_push(cleanup, NULL);
    __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
    wait_for_descriptors((long)way);
    wait_for_time_and_signals((long)way);
    wait_for_others((long)way);
    cleaned = -100;
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancel_each(void)
{
    for (long way = 0; way < WAYS; way++) {
        pthread_t thread;
        void *result = NULL;
        waiting = 0;
        MUST(pthread_create(&thread, NULL, wait_forever, (void *)way) == 0);
        while (!__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
            usleep(100);
        usleep(3000);
        MUST(pthread_cancel(thread) == 0);
        MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    MUST(cleaned == WAYS);
}

static void jump(int signal_number)
{
    (void)signal_number;
    siglongjmp(back, 1);
}

static void jump_out(int times)
{
    const struct itimerval soon = {{0, 0}, {0, 2000}};
    volatile int jumps = 0;
    signal(SIGALRM, jump);
    for (volatile int i = 0; i < times; i++) {
        if (sigsetjmp(back, 1)) {
            jumps++;
            continue;
        }
        struct pollfd one = {pipe_ends[0], POLLIN, 0};
        setitimer(ITIMER_REAL, &soon, NULL);
        MUST(poll(&one, 1, -1) < -1);
    }
    MUST(jumps == times);
}

static void count_alarm(int signal_number)
{
    (void)signal_number;
    if (++alarms == 3)
        write(pair[1], "now", 3);
}

/* poll ends with EINTR even under SA_RESTART; recv and waitpid go on. */
static void interrupt(int flags)
{
    const struct sigaction action = {.sa_handler = count_alarm, .sa_flags = flags};
    const struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    struct pollfd one = {pipe_ends[0], POLLIN, 0};
    char bytes[4];
    alarms = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    MUST(poll(&one, 1, -1) < 0 && errno == EINTR);
    if (flags & SA_RESTART)
        MUST(recv(pair[0], bytes, 4, 0) == 3);
    else
        MUST(recv(pair[0], bytes, 4, MSG_WAITALL) < 0 && errno == EINTR);
    setitimer(ITIMER_REAL, &never, NULL);
    while (recv(pair[0], bytes, 4, MSG_DONTWAIT) > 0)
        ;
}

int main(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    MUST(pipe(pipe_ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    MUST(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    epoll = epoll_create1(0);
    sleeper = fork();
    if (sleeper == 0) {
        pause();
        _exit(0);
    }
    cancel_each();
    jump_out(100);
    interrupt(0);
    interrupt(SA_RESTART);
    kill(sleeper, SIGKILL);
    wait_for(sleeper);
    struct pollfd one = {pipe_ends[1], POLLOUT, 0};
    for (int i = 0; i < 1000; i++)
        MUST(poll(&one, 1, 0) == 1);
    trace_must("wait_poll", "==", 1002);
    trace_must("wait_poll.errors", "==", 2);
    return host_broken;
}
