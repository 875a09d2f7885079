/* SPDX-License-Identifier: MIT
 *
 * T10: a hundred threads with the smallest stack that POSIX allows run every kind of hook, and fill enough buffers that
 * the compressor runs on their behalf.
 */
#include "host.h"

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

enum { THREADS = 100, PAIRS = 3000, WRITES = 300 };

static void *work(void *unused)
{
    struct stat status;
    char byte;
    alloc_pairs(PAIRS, 4242);
    const int fd = open("/dev/null", O_RDWR);
    for (int i = 0; i < WRITES; i++)
        if (write(fd, "x", 1) != 1)
            return (void *)1;
    if (read(fd, &byte, 1) != 0 || fstat(fd, &status) || stat("/dev/null", &status) || close(fd))
        return (void *)1;
    return unused;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    MUST(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result = (void *)1;
        MUST(pthread_create(&thread, &attributes, work, NULL) == 0);
        MUST(pthread_join(thread, &result) == 0 && !result);
    }
    trace_must("size:4242", "==", THREADS * PAIRS);
    trace_must("io_write", "==", THREADS * WRITES);
    trace_must("meta_stat", "==", 2 * THREADS);
    return host_broken;
}
