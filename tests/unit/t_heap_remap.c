/* SPDX-License-Identifier: MIT
 *
 * How much malloc maps again: what glibc does for sizes and orders that are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/heap/remap.h"

#define MIB (1u << 20)
#define MAPPED 0x7f0000000010ull
#define OF_HEAP 0x5500000002a0ull

static double saved_mib(const struct pt_heap_remap *remap)
{
    return pt_heap_remap_saved_bytes(remap, &remap->large) / MIB;
}

static void mappings_of_their_own_are_new_each_time(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    for (int i = 0; i < 10; i++) {
        pt_heap_remap_alloc(&remap, 1, MAPPED, 8 * MIB, 8 * MIB);
        pt_heap_remap_free(&remap, MAPPED, 8 * MIB, 8 * MIB);
    }
    assert_true(saved_mib(&remap) == 9 * 8);
    for (int i = 0; i < 10; i++) {
        pt_heap_remap_alloc(&remap, 1, MAPPED, 48 * MIB, 48 * MIB);
        pt_heap_remap_free(&remap, MAPPED, 48 * MIB, 48 * MIB);
    }
    assert_true(saved_mib(&remap) == 9 * 8);
    assert_true(pt_heap_remap_saved_bytes(&remap, &remap.huge) / MIB == 9 * 48);
}

/* The first one that is freed raises the threshold; ten at once are more than twice that at the top, one is not. */
static void the_top_is_given_back_when_it_is_large(void **state)
{
    (void)state;
    for (int at_once = 1; at_once <= 10; at_once += 9) {
        struct pt_heap_remap remap = {0};
        pt_heap_remap_alloc(&remap, 1, MAPPED, 4 * MIB, 4 * MIB);
        pt_heap_remap_free(&remap, MAPPED, 4 * MIB, 4 * MIB);
        for (int step = 0; step < 5; step++) {
            for (int i = 0; i < at_once; i++)
                pt_heap_remap_alloc(&remap, 1, OF_HEAP + 4096 * 1024 * i, 4 * MIB, 4 * MIB);
            for (int i = at_once; i-- > 0;)
                pt_heap_remap_free(&remap, OF_HEAP + 4096 * 1024 * i, 4 * MIB, 4 * MIB);
        }
        assert_true(at_once == 1 ? saved_mib(&remap) == 4 : saved_mib(&remap) > 4 * 32 && saved_mib(&remap) <= 4 + 160);
        pt_heap_remap_fini(&remap);
    }
}

/* Measured with PyTorch's elementwise operations: the new block is there before the old one goes, and its alignment is
 * too much for the hole that this leaves. So three places are used in turn, and every third time the top is given back,
 * but for a pad. */
static void a_block_beside_the_old_one_is_new_twice_of_three_times(void **state)
{
    (void)state;
    enum { SIZE = 1600000 };
    const pt_u64 places[] = {0x3a74f380, 0x3a8d5dc0, 0x3aa5c800};
    struct pt_heap_remap remap = {0};
    pt_heap_remap_alloc(&remap, 1, MAPPED, SIZE, SIZE);
    pt_heap_remap_free(&remap, MAPPED, SIZE, SIZE);
    pt_heap_remap_alloc(&remap, 1, places[0], SIZE, SIZE);
    for (int i = 1; i <= 300; i++) {
        pt_heap_remap_alloc(&remap, 1, places[i % 3], SIZE, SIZE);
        pt_heap_remap_free(&remap, places[(i - 1) % 3], SIZE, SIZE);
    }
    const double saved = pt_heap_remap_saved_bytes(&remap, &remap.large) / SIZE;
    assert_true(saved >= 185 && saved <= 205);
    pt_heap_remap_fini(&remap);
}

/* Two threads, of which one holds more than its arena's heap has room for; and the thresholds are set already. */
static void an_arena_that_is_too_small_gives_back_all_the_same(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    const pt_u64 arenas[] = {0x7f0010000020, 0x7f0014000020, 0x7f0018000020, 0x7f001c000020, 0x7f0020000020};
    enum { SIZE = 30 * MIB, BLOCKS = 5, ROUNDS = 10 };
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCKS; i++)
            pt_heap_remap_alloc(&remap, i ? 1 : 2, arenas[i] + 0x28, SIZE, SIZE);
        for (int i = BLOCKS; i-- > 0;)
            pt_heap_remap_free(&remap, arenas[i] + 0x28, SIZE, SIZE);
    }
    assert_true(pt_heap_remap_crowded_bytes(&remap) >= 4.0 * SIZE * ROUNDS / 2 && saved_mib(&remap) > 0);
    assert_true(pt_heap_remap_crowded_bytes(&remap) <= 4.0 * SIZE * ROUNDS);
    pt_heap_remap_fini(&remap);
    for (int round = 0; round < 20; round++) {
        pt_heap_remap_alloc(&remap, 2, arenas[0] + 0x28, SIZE, SIZE);
        pt_heap_remap_free(&remap, arenas[0] + 0x28, SIZE, SIZE);
    }
    assert_true(pt_heap_remap_crowded_bytes(&remap) == 0 && saved_mib(&remap) == 0);
    pt_heap_remap_fini(&remap);
}

/* Blocks without an end, or the same one twice, as a trace that lies may have them. */
static void what_cannot_be_is_no_harm(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    for (pt_u64 i = 0; i < 100; i++) {
        pt_heap_remap_alloc(&remap, 1, OF_HEAP, (i + 1) * MIB, MIB);
        pt_heap_remap_alloc(&remap, 1, UINT64_MAX - i * 77, UINT64_MAX, 1);
        pt_heap_remap_alloc(&remap, 1, UINT64_MAX / 2 - 16 - i, UINT64_MAX, 1);
        pt_heap_remap_free(&remap, UINT64_MAX / 2 - 16 - i, UINT64_MAX, 1);
        pt_heap_remap_free(&remap, OF_HEAP + i, MIB, MIB);
        pt_heap_remap_alloc(&remap, 1, 0x7f0000000088 + (i << 30), MIB, MIB);
    }
    assert_true(saved_mib(&remap) >= 0);
    pt_heap_remap_fini(&remap);
}

static void blocks_that_stay_save_nothing(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    for (int i = 0; i < 100; i++)
        pt_heap_remap_alloc(&remap, 1, MAPPED + (pt_u64)i * 8 * MIB, 4 * MIB, 4 * MIB);
    assert_true(saved_mib(&remap) == 0);
    for (int i = 0; i < 100; i++)
        pt_heap_remap_alloc(&remap, 1, 0x55000000a0ull, 1000, 1000);
    assert_true(remap.seen_bytes == 400.0 * MIB);
}

static void where_nothing_is_mapped_the_variables_are_set(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    for (int step = 0; step < 20; step++) {
        pt_heap_remap_alloc(&remap, 1, OF_HEAP, 16 * MIB, 16 * MIB);
        pt_heap_remap_free(&remap, OF_HEAP, 16 * MIB, 16 * MIB);
    }
    assert_true(saved_mib(&remap) == 0);
    pt_heap_remap_fini(&remap);
}

/* Above the largest threshold blocks are mapped even so; that is none of the others'. */
static void larger_blocks_are_mapped_beside_those_that_stay(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    for (int step = 0; step < 20; step++) {
        pt_heap_remap_alloc(&remap, 1, OF_HEAP, 8 * MIB, 8 * MIB);
        pt_heap_remap_alloc(&remap, 1, MAPPED, 48 * MIB, 48 * MIB);
        pt_heap_remap_free(&remap, OF_HEAP, 8 * MIB, 8 * MIB);
        pt_heap_remap_free(&remap, MAPPED, 48 * MIB, 48 * MIB);
    }
    assert_true(saved_mib(&remap) == 0);
    assert_true(pt_heap_remap_saved_bytes(&remap, &remap.huge) / MIB == 19 * 48);
    pt_heap_remap_fini(&remap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_of_their_own_are_new_each_time),
        cmocka_unit_test(the_top_is_given_back_when_it_is_large),
        cmocka_unit_test(a_block_beside_the_old_one_is_new_twice_of_three_times),
        cmocka_unit_test(an_arena_that_is_too_small_gives_back_all_the_same),
        cmocka_unit_test(what_cannot_be_is_no_harm),
        cmocka_unit_test(blocks_that_stay_save_nothing),
        cmocka_unit_test(where_nothing_is_mapped_the_variables_are_set),
        cmocka_unit_test(larger_blocks_are_mapped_beside_those_that_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
