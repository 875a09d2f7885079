/* SPDX-License-Identifier: MIT
 *
 * hash.h - hashes of 64-bit keys that come from files, and of texts. Into those of keys a seed of this run of the
 * program goes, so that no file can hold keys that all collide; therefore the order of slots must not decide anything
 * that is shown.
 */
#ifndef PT_UTIL_HASH_H
#define PT_UTIL_HASH_H

#include <stdint.h>

/* Differs from run to run; the same within one. */
uint64_t pt_hash_seed(void);

static inline uint64_t pt_hash_u64(uint64_t key, uint64_t seed)
{
    __extension__ typedef unsigned __int128 u128;
    const u128 product = (u128)(key ^ seed) * ((seed << 32 | seed >> 32) | 1);
    /* Once more: with one seed of a thousand, keys at equal distances were still at equal distances here. */
    const uint64_t hash = ((uint64_t)(product >> 64) ^ (uint64_t)product) * 0x9e3779b97f4a7c15ull;
    return hash ^ hash >> 32;
}

/* A key for a number and what it belongs to: a name and its stage, an address and its process. One shifted over the
 * other makes those equal that differ in bits which the shift drops. The same in each run. */
static inline uint64_t pt_hash_pair(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdull;
    x ^= x >> 32;
    return x * 0xc4ceb9fe1a85ec53ull ^ x >> 29;
}

/* Of a text: FNV-1a, the same in each run. It goes on from `hash`: PT_HASH_OF_TEXT, or that mixed with what else is
 * hashed. */
#define PT_HASH_OF_TEXT 0xcbf29ce484222325ull

static inline uint64_t pt_hash_text(const char *text, uint64_t hash)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash;
}

#endif
