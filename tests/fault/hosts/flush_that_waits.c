/* SPDX-License-Identifier: MIT
 *
 * A flush of a stream that holds nothing is no event; unless it waits for a thread that holds the stream.
 */
#include "host.h"

#include <pthread.h>

static volatile int is_held;
static volatile pid_t waiter; /* who is about to flush */

static void *hold(void *unused)
{
    flockfile(stderr);
    is_held = 1;
    while (!is_asleep(waiter))
        usleep(500);
    usleep(20000); /* from 0.1 ms on a wait is one */
    funlockfile(stderr);
    return unused;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 1000; i++)
        MUST(fflush(stderr) == 0);
    MUST(pthread_create(&thread, NULL, hold, NULL) == 0);
    while (!is_held)
        ;
    waiter = gettid();
    MUST(fflush(stderr) == 0);
    pthread_join(thread, NULL);
    trace_must("stdio_flush", "==", 2); /* and that of this line */
    return host_broken;
}
