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
        pt_heap_remap_alloc(&remap, MAPPED, 8 * MIB, 8 * MIB);
        pt_heap_remap_free(&remap, MAPPED, 8 * MIB, 8 * MIB);
    }
    assert_true(saved_mib(&remap) == 9 * 8);
    for (int i = 0; i < 10; i++) {
        pt_heap_remap_alloc(&remap, MAPPED, 48 * MIB, 48 * MIB);
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
        pt_heap_remap_alloc(&remap, MAPPED, 4 * MIB, 4 * MIB);
        pt_heap_remap_free(&remap, MAPPED, 4 * MIB, 4 * MIB);
        for (int step = 0; step < 5; step++) {
            for (int i = 0; i < at_once; i++)
                pt_heap_remap_alloc(&remap, OF_HEAP + 4096 * 1024 * i, 4 * MIB, 4 * MIB);
            for (int i = at_once; i-- > 0;)
                pt_heap_remap_free(&remap, OF_HEAP + 4096 * 1024 * i, 4 * MIB, 4 * MIB);
        }
        assert_true(at_once == 1 ? saved_mib(&remap) == 4 : saved_mib(&remap) > 4 * 32 && saved_mib(&remap) <= 4 + 160);
    }
}

static void blocks_that_stay_save_nothing(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    for (int i = 0; i < 100; i++)
        pt_heap_remap_alloc(&remap, MAPPED + (pt_u64)i * 8 * MIB, 4 * MIB, 4 * MIB);
    assert_true(saved_mib(&remap) == 0);
    for (int i = 0; i < 100; i++)
        pt_heap_remap_alloc(&remap, 0x55000000a0ull, 1000, 1000);
    assert_true(remap.seen_bytes == 400.0 * MIB);
}

static void where_nothing_is_mapped_the_variables_are_set(void **state)
{
    (void)state;
    struct pt_heap_remap remap = {0};
    for (int step = 0; step < 20; step++) {
        pt_heap_remap_alloc(&remap, OF_HEAP, 16 * MIB, 16 * MIB);
        pt_heap_remap_free(&remap, OF_HEAP, 16 * MIB, 16 * MIB);
    }
    assert_true(saved_mib(&remap) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_of_their_own_are_new_each_time),
        cmocka_unit_test(the_top_is_given_back_when_it_is_large),
        cmocka_unit_test(blocks_that_stay_save_nothing),
        cmocka_unit_test(where_nothing_is_mapped_the_variables_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
