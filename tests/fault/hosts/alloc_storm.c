/* SPDX-License-Identifier: MIT
 *
 * T6: eight threads allocate, resize and release, and hand blocks to one another; the trace must hold as many releases
 * as allocations of each marked size.
 */
#include "host.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 8000, SLOTS = 64 };
static void *shared[SLOTS];

static void *storm(void *seed)
{
    unsigned random = (unsigned)(long)seed * 2654435761u + 1;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525u + 1013904223u;
        void *block = malloc(4242);
        block = realloc(block, 4343);
        /* The block that lay in the slot was allocated by any thread; this one releases it. */
        free(__atomic_exchange_n(&shared[random >> 26], block, __ATOMIC_ACQ_REL));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, storm, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < SLOTS; i++)
        free(shared[i]);
    trace_must("size:4242", "==", THREADS * ROUNDS);
    trace_must("size:4343", "==", THREADS * ROUNDS);
    trace_must("live_at_end:4242", "==", 0);
    trace_must("live_at_end:4343", "==", 0);
    return host_broken;
}
