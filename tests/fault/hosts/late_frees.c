/* SPDX-License-Identifier: MIT
 *
 * T8: allocations and releases after everybody thinks it is over: key destructors that allocate in each of their
 * rounds, exit handlers, destructors, and a last write from the very last one.
 */
#include "host.h"

#include <pthread.h>

static pthread_key_t key;
static int rounds;
static void *kept;

static void allocate_again(void *value)
{
    free(value);
    if (++rounds < 4)
        pthread_setspecific(key, malloc(4242));
}

static void *thread_main(void *unused)
{
    pthread_setspecific(key, malloc(4242));
    return unused;
}

static void exit_handler(void)
{
    free(kept);
    alloc_pairs(100, 4243);
}

__attribute__((destructor)) static void last(void)
{
    alloc_pairs(100, 4244);
    if (write(1, "last words\n", 11) != 11)
        _exit(99);
}

int main(void)
{
    pthread_t thread;
    pthread_key_create(&key, allocate_again);
    pthread_create(&thread, NULL, thread_main, NULL);
    pthread_join(thread, NULL);
    kept = malloc(4245);
    atexit(exit_handler);
    MUST(rounds == 4);
    trace_must("size:4242", "==", 4);
    trace_must("size:4243", "==", 100);
    trace_must("size:4244", "==", 100);
    trace_must("io_write", ">=", 1);
    return host_broken;
}
