/* SPDX-License-Identifier: MIT
 *
 * The tests that `check` judges times by, against values that are printed in tables of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "regression/figures.h"
#include "regression/statistics.h"

static void assert_near(double value, double wanted)
{
    assert_true(fabs(value - wanted) < 1e-9);
}

/* One sample wholly above another of the same size n: one of (2n over n) orders. */
static void test_samples_apart(void **state)
{
    (void)state;
    const double low[] = {1, 2, 3, 4, 5, 6}, high[] = {11, 12, 13, 14, 15, 16};
    assert_near(pt_mann_whitney(low, 3, high, 3), 1.0 / 20);
    assert_near(pt_mann_whitney(low, 4, high, 4), 1.0 / 70);
    assert_near(pt_mann_whitney(low, 5, high, 5), 1.0 / 252);
    assert_near(pt_mann_whitney(low, 6, high, 6), 1.0 / 924);
    assert_near(pt_mann_whitney(high, 6, low, 6), 1);
}

/* Mann and Whitney 1947, the table for samples of 5 and 4: 0.056 for U = 3, 0.095 for U = 4, U being how often a value
 * of b lies below one of a. */
static void test_the_published_table(void **state)
{
    (void)state;
    const double a[] = {1, 2, 3, 5, 8}, b[] = {4, 6, 7, 9}; /* 4 < 5, and 4, 6 and 7 < 8 */
    assert_true(fabs(pt_mann_whitney(a, 5, b, 4) - 0.095) < 0.0005);
    const double c[] = {1, 2, 3, 4, 8}, d[] = {5, 6, 7, 9}; /* 5, 6 and 7 < 8 */
    assert_true(fabs(pt_mann_whitney(c, 5, d, 4) - 0.056) < 0.0005);
}

static void test_equal_values_share_a_rank(void **state)
{
    (void)state;
    const double a[] = {1, 1, 1, 1}, b[] = {1, 1, 1, 1}, c[] = {1, 1, 2, 2};
    assert_near(pt_mann_whitney(a, 4, b, 4), 1);
    /* Both of the two larger values are in c: (6 over 2) of (8 over 4) choices. */
    assert_near(pt_mann_whitney(a, 4, c, 4), 15.0 / 70);
    assert_near(pt_mann_whitney(a, 0, c, 4), 1);
}

/* The example of many textbooks: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02. */
static void test_holm(void **state)
{
    (void)state;
    double p[] = {0.01, 0.04, 0.03, 0.005};
    pt_holm(p, 4);
    assert_near(p[0], 0.03);
    assert_near(p[1], 0.06);
    assert_near(p[2], 0.06);
    assert_near(p[3], 0.02);
}

static void test_medians(void **state)
{
    (void)state;
    const double values[] = {9, 1, 5, 3};
    assert_near(pt_median(values, 3), 5);
    assert_near(pt_median(values, 4), 4);
    assert_true(isnan(pt_median(values, 0)));
}

static void test_kinds(void **state)
{
    (void)state;
    assert_int_equal(pt_figure_kind_of("read.calls"), PT_FIGURE_COUNT);
    assert_int_equal(pt_figure_kind_of("read.bytes"), PT_FIGURE_BYTES);
    assert_int_equal(pt_figure_kind_of("wall_s"), PT_FIGURE_WALL);
    assert_int_equal(pt_figure_kind_of("cpu_s"), PT_FIGURE_CPU);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_apart),
        cmocka_unit_test(test_the_published_table),
        cmocka_unit_test(test_equal_values_share_a_rank),
        cmocka_unit_test(test_holm),
        cmocka_unit_test(test_medians),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
