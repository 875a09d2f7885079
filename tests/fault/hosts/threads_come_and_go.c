/* SPDX-License-Identifier: MIT
 *
 * T18: a thousand threads at a time and ten thousand in all, each started when another ends, in no order. All events of
 * the dead must be there when the living have taken over what they left.
 * usage: threads_come_and_go [AT_A_TIME [IN_ALL]]
 */
#include "host.h"

#include <pthread.h>
#include <semaphore.h>

enum { STACK = 64 << 10, PAIRS = 3, WRITES = 5 };

static sem_t places;
static long begun, ended;
static int null_fd;

static void *work(void *number)
{
    alloc_pairs(PAIRS, 4242);
    for (int i = 0; i < WRITES; i++)
        MUST(write(null_fd, "12345678", 8) == 8);
    /* Every third stays until three more have come. */
    const long own = (long)number;
    for (int i = 0; own % 3 == 0 && i < 20 && __atomic_load_n(&begun, __ATOMIC_RELAXED) < own + 3; i++)
        usleep(1000);
    __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
    sem_post(&places);
    return NULL;
}

/* Names that were not there before. */
static void *open_late(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++) {
        char name[300];
        snprintf(name, sizeof name, "/%0200d/late-%d", 0, i);
        MUST(open(name, O_RDONLY | O_CLOEXEC) < 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const long at_a_time = argc > 1 ? atol(argv[1]) : 1000, in_all = argc > 2 ? atol(argv[2]) : 10000;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    MUST(pthread_attr_setstacksize(&attributes, STACK) == 0);
    MUST(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    MUST((null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC)) >= 0);
    sem_init(&places, 0, (unsigned)at_a_time);
    for (long i = 0; i < in_all; i++) {
        pthread_t thread;
        sem_wait(&places);
        MUST(pthread_create(&thread, &attributes, work, (void *)i) == 0);
        __atomic_store_n(&begun, i + 1, __ATOMIC_RELAXED);
    }
    for (long i = 0; i < at_a_time; i++)
        sem_wait(&places);
    MUST(ended == in_all);
    pthread_t late;
    MUST(pthread_create(&late, NULL, open_late, NULL) == 0 && pthread_join(late, NULL) == 0);
    trace_must("fd_path:/late-99:io_open", "==", 1);
    trace_must("io_write", ">=", in_all * WRITES);
    trace_must("fd_path:/dev/null:io_write", "==", in_all * WRITES);
    trace_must("thread_create", "==", in_all + 1);
    trace_must("size:4242", "==", in_all * PAIRS);
    return host_broken;
}
