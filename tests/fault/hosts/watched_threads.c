/* SPDX-License-Identifier: MIT
 *
 * Threads that allocate, read and lock, and do nothing that a checker of memory or of threads would complain of.
 */
#include "host.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

static void *work(void *unused)
{
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < 2000; i++) {
        char *block = malloc(1000 + (size_t)i * 100);
        memset(block, 0, 64);
        const ssize_t n = read(zero, block, 64);
        pthread_mutex_lock(&mutex);
        total += (unsigned long)n;
        pthread_mutex_unlock(&mutex);
        free(block);
    }
    close(zero);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    MUST(total == 3ul * 2000 * 64);
    trace_must("io_read", ">=", 3l * 2000); /* the script that starts valgrind reads, too */
    trace_must("lost", "==", 0);
    return host_broken;
}
