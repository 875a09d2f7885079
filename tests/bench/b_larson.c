/* SPDX-License-Identifier: MIT
 *
 * b_larson.c - M2: threads replace random blocks of big live sets; the sets change owner every round, so many blocks
 * are freed by another thread. Bound by cache misses: shows what a tracer does to memory-level parallelism. usage:
 * b_larson [THREADS [ROUNDS [REPLACEMENTS [LIVE]]]]
 */
#include <pthread.h>

#include "bench.h"

enum { MAX_THREADS = 256 };

struct worker {
    char **blocks;
    long live, replacements;
    uint32_t seed;
};

static uint32_t random_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static size_t random_size(uint32_t *state)
{
    const uint32_t r = random_next(state);
    return r & 7 ? 16 + (r >> 8) % 240 : 256 + (r >> 8) % 1793;
}

static void *replace_blocks(void *argument)
{
    const struct worker *w = argument;
    uint32_t state = w->seed;
    for (long i = 0; i < w->replacements; i++) {
        char **slot = &w->blocks[random_next(&state) % (uint32_t)w->live];
        free(*slot);
        const size_t bytes = random_size(&state);
        *slot = malloc(bytes);
        (*slot)[0] = 1;
        (*slot)[bytes - 1] = 2;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const long threads = bench_argument(argc, argv, 1, 1), rounds = bench_argument(argc, argv, 2, 4),
               replacements = bench_argument(argc, argv, 3, 250000), live = bench_argument(argc, argv, 4, 50000);
    if (threads < 1 || threads > MAX_THREADS)
        return 2;
    static char **sets[MAX_THREADS];
    uint32_t state = 77;
    for (long t = 0; t < threads; t++) {
        sets[t] = calloc((size_t)live, sizeof(char *));
        for (long i = 0; i < live; i++)
            sets[t][i] = malloc(random_size(&state));
    }
    const struct bench from = bench_now();
    for (long round = 0; round < rounds; round++) {
        pthread_t ids[MAX_THREADS];
        struct worker workers[MAX_THREADS];
        for (long t = 0; t < threads; t++) {
            workers[t] =
                (struct worker){sets[(t + round) % threads], live, replacements, (uint32_t)(1000 + round * 64 + t)};
            pthread_create(&ids[t], NULL, replace_blocks, &workers[t]);
        }
        for (long t = 0; t < threads; t++)
            pthread_join(ids[t], NULL);
    }
    bench_print(from, (uint64_t)(threads * rounds * replacements));
    return 0;
}
