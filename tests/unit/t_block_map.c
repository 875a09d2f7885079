/* SPDX-License-Identifier: MIT
 *
 * The table of live blocks against a plain array, with removals that leave no holes; the weights of samples.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "facts/block_map.h"
#include "analysis/heap/sites.h"

enum { BLOCKS = 3000, ROUNDS = 200000 };

static void behaves_like_an_array(void **state)
{
    (void)state;
    static pt_u64 sizes[BLOCKS]; /* 0 = not there */
    struct pt_block_room room = {0};
    struct pt_block_map map = {.room = &room};
    pt_u64 seed = 42;
    size_t live = 0;
    for (int round = 0; round < ROUNDS; round++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const size_t i = (seed >> 33) % BLOCKS;
        const pt_u64 addr = 0x7f0000000000ull + i * 16;
        struct pt_heap_block *block = pt_block_find(&map, addr);
        assert_int_equal(block != NULL, sizes[i] != 0);
        if (block) {
            assert_int_equal(block->size_bytes, sizes[i]);
            pt_block_remove(&map, block);
            sizes[i] = 0;
            live--;
        } else {
            sizes[i] = (seed >> 40) + 1;
            pt_block_insert(&map, addr)->size_bytes = sizes[i];
            live++;
        }
        assert_int_equal(map.n, live);
    }
    pt_block_map_fini(&map);
    assert_int_equal(room.taken_slots, 0);
}

/* Two tables of one room: the second gets what the first leaves, and a full one still knows its blocks. */
static void a_full_room_takes_no_more(void **state)
{
    (void)state;
    struct pt_block_room room = {.taken_slots = PT_BLOCK_SLOTS_MOST - 256};
    struct pt_block_map first = {.room = &room}, second = {.room = &room};
    pt_u64 addr = 0;
    while (pt_block_insert(&first, addr += 16))
        assert_true(first.n <= 256 * 7 / 8);
    assert_int_equal(first.n, 256 * 7 / 8);
    assert_null(pt_block_insert(&second, 16));
    assert_null(pt_block_find(&second, 16));
    assert_non_null(pt_block_insert(&first, 16));
    pt_block_remove(&first, pt_block_find(&first, 16));
    assert_non_null(pt_block_insert(&first, addr));
    pt_block_map_fini(&first);
    assert_non_null(pt_block_insert(&second, 16));
    pt_block_map_fini(&second);
}

/* Addresses that differ only far up, only far down, or by the inverse of a multiplier: none pile up. */
static void no_pattern_of_addresses_piles_up(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    static const pt_u64 steps[] = {16, 4096, 1ull << 24, 1ull << 43, 0xf1de83e19937733dull};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct pt_block_room room = {0};
        struct pt_block_map map = {.room = &room};
        for (pt_u64 k = 1; k <= MANY; k++)
            pt_block_insert(&map, k * steps[i]);
        pt_u64 run = 0, longest = 0;
        for (size_t at = 0; at <= map.mask; at++) {
            run = map.slots[at].addr ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
        assert_true(longest < MANY / 20); /* a few hundred by chance */
        pt_block_map_fini(&map);
    }
}

/* The sum of weights of what a Poisson sampler takes is the true sum, up to chance. */
static void weights_are_unbiased(void **state)
{
    (void)state;
    const pt_u64 sample_bytes = 512 * 1024;
    const pt_u64 sizes[] = {16, 1000, 100000, 400000, 3000000};
    srand48(7);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double p = sizes[i] >= sample_bytes ? 1 : 1 - exp(-((double)sizes[i] + 16) / (double)sample_bytes);
        const pt_u64 calls = (pt_u64)(4000 / p);
        double bytes = 0, allocs = 0, variance = 0;
        for (pt_u64 call = 0; call < calls; call++) {
            if (drand48() >= p)
                continue;
            const struct pt_sample_weight w = pt_sample_weigh(sizes[i], sample_bytes);
            bytes += w.bytes;
            allocs += w.allocs;
            variance += w.variance;
        }
        assert_true(fabs(allocs / (double)calls - 1) < 0.06);
        const double error = fabs(bytes - (double)(sizes[i] * calls));
        assert_true(error <= 3.5 * sqrt(variance));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_like_an_array),
        cmocka_unit_test(a_full_room_takes_no_more),
        cmocka_unit_test(no_pattern_of_addresses_piles_up),
        cmocka_unit_test(weights_are_unbiased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
