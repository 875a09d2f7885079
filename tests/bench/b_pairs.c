/* SPDX-License-Identifier: MIT
 *
 * b_pairs.c - M1: one thread, malloc and free in pairs of 16 to 1040 bytes. The sizes never repeat in a pattern: a
 * periodic table would let a compressing tracer shrink the trace to nothing.   usage: b_pairs [PAIRS]
 */
#include "bench.h"

int main(int argc, char **argv)
{
    const long pairs = bench_argument(argc, argv, 1, 5000000);
    uint64_t x = 12345;
    const struct bench from = bench_now();
    for (long i = 0; i < pairs; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        char *volatile block = malloc(16 + (((x >> 33) * 1009) >> 31));
        *block = (char)i;
        free(block);
    }
    bench_print(from, (uint64_t)pairs);
    return 0;
}
