/* SPDX-License-Identifier: MIT
 *
 * Unions of spans that arrive about in the order of their ends: exact against a bitmap, never too small where memory is
 * bounded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "facts/time_union.h"

enum { LENGTH = 2000 };

static pt_u32 next(pt_u32 *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void is_what_a_bitmap_says(void **state)
{
    (void)state;
    for (pt_u32 round = 1; round < 200; round++) {
        static char seen[LENGTH];
        struct pt_time_union sum = {0};
        pt_u32 seed = round;
        memset(seen, 0, sizeof seen);
        for (pt_i64 end = 1; end < LENGTH; end += 1 + next(&seed) % 30) {
            const pt_i64 length = next(&seed) % (round % 90 + 2), start = end > length ? end - length : 0;
            memset(seen + start, 1, (size_t)(end - start));
            pt_time_union_add(&sum, start, end);
        }
        pt_i64 expected = 0;
        for (int i = 0; i < LENGTH; i++)
            expected += seen[i];
        assert_int_equal(sum.total_ns, expected);
    }
}

/* What a call was preceded by ends before what was told last. */
static void a_span_before_the_last_one_counts_as_what_it_is(void **state)
{
    (void)state;
    for (pt_u32 round = 1; round < 200; round++) {
        static char seen[LENGTH];
        struct pt_time_union sum = {0};
        pt_u32 seed = round;
        memset(seen, 0, sizeof seen);
        for (pt_i64 at = 100; at < LENGTH; at += 1 + next(&seed) % 30) {
            const pt_i64 start = at - next(&seed) % 100, end = start + next(&seed) % 20;
            memset(seen + start, 1, end > LENGTH ? (size_t)(LENGTH - start) : (size_t)(end - start));
            pt_time_union_add(&sum, start, end < LENGTH ? end : LENGTH);
        }
        pt_i64 expected = 0;
        for (int i = 0; i < LENGTH; i++)
            expected += seen[i];
        assert_int_equal(sum.total_ns, expected);
    }
}

static void is_never_too_small(void **state)
{
    (void)state;
    struct pt_time_union sum = {0};
    for (pt_i64 i = 0; i < 1000; i++)
        pt_time_union_add(&sum, 10 * i, 10 * i + 5);
    assert_int_equal(sum.total_ns, 5000);
    pt_time_union_add(&sum, 0, 10000);
    assert_true(sum.total_ns >= 10000 && sum.n <= PT_UNION_KEPT);
}

static void empty_and_reversed_spans_count_nothing(void **state)
{
    (void)state;
    struct pt_time_union sum = {0};
    pt_time_union_add(&sum, 5, 5);
    pt_time_union_add(&sum, 7, 3);
    assert_int_equal(sum.total_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_a_bitmap_says),
        cmocka_unit_test(a_span_before_the_last_one_counts_as_what_it_is),
        cmocka_unit_test(is_never_too_small),
        cmocka_unit_test(empty_and_reversed_spans_count_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
