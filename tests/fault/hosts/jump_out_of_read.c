/* SPDX-License-Identifier: MIT
 *
 * T13: reads that never return: the thread is cancelled in one, handlers jump out of others. Cleanups run, and the
 * thread is not deaf afterwards: what it does next is in the trace.
 */
#include "host.h"

#include <pthread.h>
#include <setjmp.h>
#include <sys/time.h>

static int pipe_ends[2], cleaned;
static sigjmp_buf back;

static void cleanup(void *unused)
{
    (void)unused;
    cleaned++;
    alloc_pairs(100, 4243);
}

static void *wait_forever(void *unused)
{
    char bytes[4];
    pthread_cleanup_push(cleanup, NULL);
    if (read(pipe_ends[0], bytes, 4) >= 0)
        cleaned = -100;
    pthread_cleanup_pop(0);
    return unused;
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
    siglongjmp(back, 1);
}

static int jump_out(int times)
{
    volatile int jumps = 0;
    const struct itimerval soon = {{0, 0}, {0, 2000}};
    for (volatile int i = 0; i < times; i++) {
        if (sigsetjmp(back, 1)) {
            jumps++;
            continue;
        }
        char bytes[4];
        setitimer(ITIMER_REAL, &soon, NULL);
        if (read(pipe_ends[0], bytes, 4) >= 0)
            return -1;
    }
    return jumps;
}

int main(void)
{
    MUST(pipe(pipe_ends) == 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result = NULL;
        pthread_create(&thread, NULL, wait_forever, NULL);
        usleep(3000);
        MUST(pthread_cancel(thread) == 0);
        MUST(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    MUST(cleaned == 20);
    signal(SIGALRM, on_alarm);
    MUST(jump_out(100) == 100);
    alloc_pairs(1000, 4242);
    MUST(null_writes(1000) == 0);
    trace_must("size:4242", "==", 1000);
    trace_must("size:4243", "==", 2000);
    trace_must("fd_path:/dev/null:io_write", "==", 1000);
    return host_broken;
}
