/* SPDX-License-Identifier: MIT
 *
 * hash.c - Owns: the seed of the hashes. Threads: any. Never: fails, waits for entropy.
 */
#include "hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t pt_hash_seed(void)
{
    /* 16 random bytes that the kernel gives every program; libc makes its stack canary from them, so they are mixed
     * here and not shown. */
    uint64_t words[2] = {0x9e3779b97f4a7c15ull, 0xbf58476d1ce4e5b9ull};
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random)
        memcpy(words, random, sizeof words);
    const uint64_t seed = (words[0] ^ words[1] >> 7) * 0x9e3779b97f4a7c15ull + words[1];
    return seed ^ seed >> 29;
}
