/* SPDX-License-Identifier: MIT
 *
 * T1, T2: blocks from before our constructor are aligned and whole, and live on: released, resized and measured in
 * main, by another thread and at exit.
 */
#include "early_library.h"
#include "host.h"

#include <malloc.h>
#include <pthread.h>

static void *release_third(void *first)
{
    for (long i = (long)first; i < EARLY_BLOCKS; i += 3) {
        MUST(early_block_is_whole((int)i));
        MUST(malloc_usable_size(early_blocks[i]) >= early_sizes[i]);
        free(early_blocks[i]);
    }
    return NULL;
}

static void resize_third(long first)
{
    for (long i = first; i < EARLY_BLOCKS; i += 3) {
        const size_t old = early_sizes[i];
        early_blocks[i] = i & 1 ? realloc(early_blocks[i], old + 5000) : reallocarray(early_blocks[i], 2, old);
        MUST(early_block_is_whole((int)i));
        early_blocks[i] = realloc(early_blocks[i], old > 8 ? 8 : old);
        early_sizes[i] = old > 8 ? 8 : old;
        MUST(early_block_is_whole((int)i));
    }
}

static void release_at_exit(void)
{
    for (int i = 2; i < EARLY_BLOCKS; i += 3)
        free(early_blocks[i]);
}

int main(void)
{
    pthread_t thread;
    atexit(release_at_exit);
    MUST(early_faults == 0);
    MUST(pthread_create(&thread, NULL, release_third, (void *)0) == 0);
    MUST(pthread_join(thread, NULL) == 0);
    resize_third(1);
    alloc_pairs(10000, 4242);
    trace_must("size:4242", "==", 10000);
    return host_broken;
}
