/* SPDX-License-Identifier: MIT
 *
 * Which rises of live memory are those of a leak.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/heap/level.h"

/* Live bytes at a share of the life, 0 to 1. */
typedef double level_at(double life);

static bool rises(level_at *at, pt_u32 first, struct pt_heap_rise *ret_rise)
{
    double floor_bytes[PT_LEVEL_BUCKETS];
    for (int i = 0; i < PT_LEVEL_BUCKETS; i++)
        floor_bytes[i] = at(i / (double)PT_LEVEL_BUCKETS);
    return pt_heap_steady_rise(floor_bytes, first, ret_rise);
}

static double line(double life)
{
    return 120 * life;
}

/* Imports, a function that leaks for six tenths of the run and gives all back, and its way out. */
static double leak_of_function(double life)
{
    return life < 0.2 ? 500 * life : life < 0.8 ? 100 + 1000 * (life - 0.2) : life < 0.95 ? 110 : 20;
}

static double load_and_use(double life)
{
    return life < 0.4 ? 1000 * life : 400;
}

static double warm_up(double life)
{
    return 100 + 35 * (1 - exp(-12 * life));
}

static double burst(double life)
{
    return life < 0.5 ? 10 : life < 0.6 ? 10 + 1000 * (life - 0.5) : 0;
}

static double saw(double life)
{
    return fmod(life * 16, 1) * 100;
}

static void a_rate_is_as_sure_as_its_parts_agree(void **state)
{
    (void)state;
    double straight[PT_LEVEL_BUCKETS], halves[PT_LEVEL_BUCKETS];
    for (int i = 0; i < PT_LEVEL_BUCKETS; i++) {
        straight[i] = 3.0 * i;
        halves[i] = i < 128 ? 2.0 * i : 256 + 4.0 * (i - 128);
    }
    const struct pt_heap_rise all = {.from = 0, .to = 240, .bytes = straight[240]};
    assert_true(pt_heap_rise_spread(straight, &all) < 1e-9);
    const struct pt_heap_rise of_halves = {.from = 0, .to = 255, .bytes = halves[255]};
    const double spread = pt_heap_rise_spread(halves, &of_halves);
    /* Parts of 2 and 4 a bucket: deviation 1.07 of a mean of 3, eight of them. */
    assert_true(fabs(spread - 2.365 * 1.069 / sqrt(8) / 3) < 0.01);
    const struct pt_heap_rise none = {0};
    assert_true(pt_heap_rise_spread(straight, &none) < 1e-9);
}

static void a_leak_is_a_line_that_ends_in_a_fall(void **state)
{
    (void)state;
    struct pt_heap_rise rise;
    assert_true(rises(line, 0, &rise));
    assert_true(rise.bytes > 0.98 * 120 && rise.fit > 0.99);
    assert_true(rises(leak_of_function, 51, &rise));
    assert_true(rise.bytes > 0.97 * 600 && rise.bytes <= 600);
    assert_true(rise.from >= 51 && rise.to < 0.8 * PT_LEVEL_BUCKETS);
}

static void what_is_filled_once_is_no_leak(void **state)
{
    (void)state;
    struct pt_heap_rise rise;
    assert_false(rises(load_and_use, 0, &rise));
    assert_false(rises(warm_up, 0, &rise));
    assert_false(rises(burst, 0, &rise));
    assert_false(rises(saw, 0, &rise));
}

static void the_end_of_a_life_is_enough_to_see(void **state)
{
    (void)state;
    struct pt_heap_rise rise;
    for (pt_u32 first = 0; first <= PT_LEVEL_BUCKETS; first++) {
        const bool found = rises(line, first, &rise);
        assert_true(found == (first + 9 <= PT_LEVEL_BUCKETS));
        assert_true(!found || (rise.from == first && rise.to == PT_LEVEL_BUCKETS - 1));
    }
}

static void the_largest_rise_counts_every_fall(void **state)
{
    (void)state;
    double floor_bytes[PT_LEVEL_BUCKETS] = {5, 25, 10, 20, 50, 0};
    assert_true(pt_heap_largest_rise(floor_bytes) == 45);
}

static void floors_lie_under_the_ups_and_downs(void **state)
{
    (void)state;
    static struct pt_heap_level leak, saw_tooth;
    pt_heap_level_init(&leak, 0, 256000);
    pt_heap_level_init(&saw_tooth, 0, 256000);
    for (pt_i64 t = 0; t < 256000; t += 10) {
        pt_heap_level_add(&leak, t, 1000, 0);
        pt_heap_level_add(&saw_tooth, t, t / 10 % 2 ? -1000000 : 1000000, 0);
    }
    pt_heap_level_next_bucket(&leak, 256000);
    pt_heap_level_next_bucket(&saw_tooth, 256000);
    assert_true(fabs(pt_heap_largest_rise(leak.floor_bytes) / 25.6e6 - 1) < 0.01);
    assert_true(pt_heap_largest_rise(saw_tooth.floor_bytes) == 0);
    assert_true(leak.peak_bytes == 25600000 && saw_tooth.peak_bytes == 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_as_sure_as_its_parts_agree), cmocka_unit_test(a_leak_is_a_line_that_ends_in_a_fall),
        cmocka_unit_test(what_is_filled_once_is_no_leak),       cmocka_unit_test(the_end_of_a_life_is_enough_to_see),
        cmocka_unit_test(the_largest_rise_counts_every_fall),   cmocka_unit_test(floors_lie_under_the_ups_and_downs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
