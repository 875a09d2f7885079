/* SPDX-License-Identifier: MIT
 *
 * T25, T30: many processes, most of which are so small that they share one trace file, and some that become too large
 * for it: by their own events, by a thread that libc starts without pthread_create, or by another thread while the
 * first one stores. Each ends by SIGKILL.
 *
 *     small_processes events|fewer|timer CHILDREN
 */
#include "host.h"

#include <pthread.h>
#include <time.h>

static int null_fd;
static long expected;

static void writes(long calls)
{
    for (long i = 0; i < calls; i++)
        if (write(null_fd, "x", 1) != 1)
            _exit(1);
}

/* More and more events, so that some child is killed at each place around the move. */
static void child_of_events(long number)
{
    writes(number);
    kill(getpid(), SIGKILL);
}

static volatile int is_over;

static void on_timer(union sigval value)
{
    (void)value;
    writes(60);
    is_over = 1;
}

/* SIGEV_THREAD: the thread is made inside of libc, where nobody sees it come. */
static void child_with_timer(long number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_timer};
    const struct itimerspec soon = {.it_value = {.tv_nsec = 1000 + number % 7 * 30000}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &soon, NULL) < 0)
        _exit(1);
    writes(number);
    while (!is_over)
        ;
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    const long children = argc > 2 ? atol(argv[2]) : 100;
    const int has_timer = argc > 1 && !strcmp(argv[1], "timer"), is_falling = argc > 1 && !strcmp(argv[1], "fewer");
    null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (long i = 0; i < children; i++) {
        const long number = is_falling ? children - i : i;
        const pid_t pid = fork();
        if (!pid)
            (has_timer ? child_with_timer : child_of_events)(number);
        MUST(wait_for(pid) == SIGKILL);
        expected += number + (has_timer ? 60 : 0);
    }
    trace_must("io_write", "==", expected);
    trace_must("processes", "==", children + 1);
    return host_broken;
}
