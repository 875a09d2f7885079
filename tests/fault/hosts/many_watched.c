/* SPDX-License-Identifier: MIT
 *
 * T24 turned round: as many descriptors as there may be, all watched at once. Sets larger than an fd_set, ten thousand
 * in epoll; ppoll, pselect and epoll_pwait change the signal mask while they wait, and only then.
 */
#include "host.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>

enum { MOST = 10000 };
static int ends[2], quiet[2], fds[MOST], n;
static volatile sig_atomic_t alarms;

static void count_alarm(int signal_number)
{
    struct pollfd one = {ends[1], POLLOUT, 0};
    (void)signal_number;
    alarms += poll(&one, 1, 0); /* a hook inside of the hook that waits */
}

static void make_descriptors(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < MOST + 50 ? limit.rlim_max : MOST + 50;
    setrlimit(RLIMIT_NOFILE, &limit);
    MUST(pipe(ends) == 0 && pipe(quiet) == 0 && write(ends[1], "x", 1) == 1);
    while (n < MOST - 1 && n + 60 < (long)limit.rlim_cur && (fds[n] = dup(quiet[0])) >= 0)
        n++;
    fds[n++] = dup(ends[0]); /* the last is the one that is ready */
    MUST(n > 500 && fds[n - 1] > 0);
}

static void watch_all(void)
{
    struct pollfd *polled = calloc((size_t)n, sizeof *polled);
    const int last = fds[n - 1];
    unsigned long *set = calloc((size_t)last / 64 + 1, 8), *others = calloc((size_t)last / 64 + 1, 8);
    struct epoll_event events[64];
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < n; i++) {
        polled[i] = (struct pollfd){fds[i], POLLIN, 0};
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fds[i]};
        MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) == 0);
    }
    for (int round = 0; round < 20; round++) {
        memset(set, 0, ((size_t)last / 64 + 1) * 8);
        for (int i = 0; i < n; i++)
            set[fds[i] / 64] |= 1ul << fds[i] % 64;
        memcpy(others, set, ((size_t)last / 64 + 1) * 8);
        MUST(poll(polled, (nfds_t)n, -1) == 1 && polled[n - 1].revents == POLLIN);
        MUST(select(last + 1, (fd_set *)set, NULL, (fd_set *)others, NULL) == 1 && set[last / 64] == 1ul << last % 64);
        MUST(epoll_wait(epoll, events, 64, -1) == 1 && events[0].data.fd == last);
    }
    close(epoll);
    free(polled);
    free(set);
    free(others);
}

/* SIGALRM is blocked, but for the time of the wait: each wait is interrupted once, and the mask is as before. */
static void masks(void)
{
    sigset_t none, blocked, now;
    struct pollfd one = {quiet[0], POLLIN, 0};
    struct epoll_event event;
    const struct itimerval soon = {{0, 0}, {0, 1000}};
    const int epoll = epoll_create1(0);
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGALRM);
    signal(SIGALRM, count_alarm);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    for (int i = 0; i < 40; i++) {
        int ret = 0;
        setitimer(ITIMER_REAL, &soon, NULL);
        switch (i % 4) {
        case 0:
            ret = ppoll(&one, 1, NULL, &none);
            break;
        case 1:
            ret = pselect(0, NULL, NULL, NULL, NULL, &none);
            break;
        case 2:
            ret = epoll_pwait(epoll, &event, 1, -1, &none);
            break;
        default:
            ret = sigsuspend(&none);
            break;
        }
        MUST(ret == -1 && errno == EINTR);
        sigprocmask(SIG_BLOCK, NULL, &now);
        MUST(sigismember(&now, SIGALRM) && alarms == i + 1);
    }
}

int main(void)
{
    make_descriptors();
    watch_all();
    masks();
    trace_must("wait_poll", "==", 20 * 3 + 30 + 40);
    trace_must("wait_poll.errors", "==", 30);
    trace_must("wait_signal", "==", 10);
    trace_must("wait_signal.errors", "==", 0);
    return host_broken;
}
