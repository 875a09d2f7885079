/* SPDX-License-Identifier: MIT
 *
 * A program whose allocations are known: it counts them itself, tracks what is live, and prints number, bytes, releases
 * and the peak, in the unit in which we promise them (bytes requested). No stdio before the end, no allocation of
 * libc's own, and no memalign, which heaptrack does not see.
 *
 * heap_known [THREADS]: with threads each does the same work in a turn of its own, a moment apart, so that the peak is
 * defined.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long allocs, frees, bytes, live, peak, random_state = 1;

static unsigned next_random(void)
{
    random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(random_state >> 33);
}

static void gained(size_t size)
{
    allocs++;
    bytes += size;
    live += size;
    if (live > peak)
        peak = live;
}

static void lost(size_t size)
{
    frees++;
    live -= size;
}

static void *allocate(size_t size)
{
    void *block = NULL;
    switch (next_random() % 5) {
    case 0:
        block = calloc(1, size);
        break;
    case 1:
        block = aligned_alloc(64, size);
        break;
    case 2:
        if (posix_memalign(&block, 32, size))
            abort();
        break;
    default:
        block = malloc(size);
    }
    gained(size);
    return block;
}

enum { BLOCKS = 3000, ROUNDS = 60000 };

static void *work(void *unused)
{
    static void *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    for (int i = 0; i < ROUNDS; i++) {
        const unsigned at = next_random() % BLOCKS;
        const size_t size = next_random() % 100 ? next_random() % 2000 + 1 : next_random() % 3000000 + 1;
        if (!blocks[at]) {
            blocks[at] = allocate(size);
            sizes[at] = size;
        } else if (next_random() % 3 == 0) {
            /* realloc is a release and an allocation, in this order. */
            lost(sizes[at]);
            blocks[at] = realloc(blocks[at], size);
            gained(size);
            sizes[at] = size;
        } else {
            free(blocks[at]);
            lost(sizes[at]);
            blocks[at] = NULL;
        }
    }
    for (int i = 0; i < BLOCKS; i += 2)
        if (blocks[i]) {
            free(blocks[i]);
            lost(sizes[i]);
            blocks[i] = NULL;
        }
    return unused;
}

static void work_in_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
        abort();
    usleep(2000);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 0;
    static char text[400];
    work(NULL);
    for (int i = 0; i < threads; i++)
        work_in_thread();
    const int length = snprintf(text, sizeof text, "allocs %lu\nfrees %lu\nbytes %lu\nlive %lu\npeak %lu\n", allocs,
                                frees, bytes, live, peak);
    return write(1, text, (size_t)length) == length ? 0 : 1;
}
