/* SPDX-License-Identifier: MIT
 *
 * Histograms: quantiles within the promised error, extremes are exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "analysis/io/file_coverage.h"
#include "profile/histogram.h"

static void buckets_are_ordered_and_hold_their_values(void **state)
{
    (void)state;
    const pt_u64 values[] = {0, 1, 7, 8, 9, 15, 16, 17, 1000, 4095, 4096, 1ull << 40, ~0ull >> 1, ~0ull};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const pt_u32 bucket = pt_histogram_bucket(values[i]);
        assert_true(bucket < PT_HISTOGRAM_BUCKETS);
        assert_true(pt_histogram_bucket_low(bucket) <= values[i]);
        if (bucket + 1 < PT_HISTOGRAM_BUCKETS)
            assert_true(pt_histogram_bucket_low(bucket + 1) > values[i]);
    }
}

static void quantiles_are_within_the_bucket_width(void **state)
{
    (void)state;
    static struct pt_histogram h;
    for (pt_u64 i = 1; i <= 100000; i++)
        pt_histogram_add(&h, i);
    const double quantiles[] = {0.01, 0.5, 0.95, 0.99};
    for (size_t i = 0; i < 4; i++) {
        const double want = quantiles[i] * 100000, got = (double)pt_histogram_quantile(&h, quantiles[i]);
        assert_true(got > want * 0.93 && got < want * 1.07);
    }
    assert_int_equal(pt_histogram_quantile(&h, 1), 100000);
    assert_int_equal(h.min, 1);
    assert_int_equal(h.sum, 100000ull * 100001 / 2);
}

static void one_value_is_every_quantile(void **state)
{
    (void)state;
    static struct pt_histogram h;
    assert_int_equal(pt_histogram_quantile(&h, 0.5), 0);
    pt_histogram_add(&h, 123456789);
    assert_int_equal(pt_histogram_quantile(&h, 0.01), 123456789);
    assert_int_equal(pt_histogram_quantile(&h, 0.99), 123456789);
}

static void coverage_counts_each_byte_once(void **state)
{
    (void)state;
    struct pt_coverage c = {0};
    for (int again = 0; again < 3; again++)
        pt_coverage_add(&c, 0, 1000);
    assert_int_equal(pt_coverage_bytes(&c), 1000);
    for (pt_u64 at = 0; at < 64ull << 20; at += 4096)
        pt_coverage_add(&c, at, 4096);
    assert_int_equal(pt_coverage_bytes(&c), 64ull << 20);
    pt_coverage_add(&c, ~0ull - 5, 100); /* nonsense offsets are ignored */
    assert_int_equal(pt_coverage_bytes(&c), 64ull << 20);
}

static void coverage_keeps_holes(void **state)
{
    (void)state;
    struct pt_coverage c = {0};
    pt_coverage_add(&c, 0, 4096);
    pt_coverage_add(&c, 1ull << 30, 4096);
    assert_true(pt_coverage_bytes(&c) <= 2ull * (16 << 20));
    assert_true(pt_coverage_bytes(&c) >= 8192);
}

static void coverage_of_both_is_what_one_of_them_has(void **state)
{
    (void)state;
    struct pt_coverage small = {0}, large = {0};
    pt_coverage_add(&small, 0, 8192);
    pt_coverage_add(&large, 0, 4096);
    struct pt_coverage both = pt_coverage_of_both(small, large);
    assert_int_equal(pt_coverage_bytes(&both), 8192);
    pt_coverage_add(&large, 0, 1 << 20); /* in larger granules */
    both = pt_coverage_of_both(small, large);
    assert_int_equal(pt_coverage_bytes(&both), 1 << 20);
    both = pt_coverage_of_both(large, small);
    assert_int_equal(pt_coverage_bytes(&both), 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_are_ordered_and_hold_their_values),
        cmocka_unit_test(quantiles_are_within_the_bucket_width),
        cmocka_unit_test(one_value_is_every_quantile),
        cmocka_unit_test(coverage_counts_each_byte_once),
        cmocka_unit_test(coverage_keeps_holes),
        cmocka_unit_test(coverage_of_both_is_what_one_of_them_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
