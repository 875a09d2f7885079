/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of charts: axes that hold what they show, curves that lose no peak and bridge no gap when thinned out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/svg/chart_axis.h"

static struct pt_axis axis_of(enum pt_show show, double largest)
{
    double t_s = 1, value = largest;
    const struct pt_chart chart = {.show = show, .end_s = 2, .series = {{"s", &t_s, &value, 1}}, .n_series = 1};
    return pt_chart_axis(&chart);
}

static void axes_hold_their_values_in_a_few_round_steps(void **state)
{
    (void)state;
    static const enum pt_show shows[] = {PT_SHOW_NUMBER, PT_SHOW_BYTES, PT_SHOW_PERCENT, PT_SHOW_BYTES_PER_SECOND};
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++) {
        for (double largest = 1e-6; largest < 1e18; largest *= 1.37) {
            const struct pt_axis axis = axis_of(shows[i], largest);
            assert_true(axis.top >= largest * 0.999999);
            assert_true(axis.step > 0 && axis.top / axis.step < 4.01 && axis.top / axis.step > 0.99);
        }
        /* Nothing but zeros still has an axis. */
        assert_true(axis_of(shows[i], 0).top > 0);
    }
    assert_true(axis_of(PT_SHOW_PERCENT, 60).top == 100);
    assert_true(axis_of(PT_SHOW_BYTES, 7.2 * 1073741824).step == 2147483648.0);
    assert_true(axis_of(PT_SHOW_NUMBER, 3.9).top == 4);
}

static void large_numbers_have_no_exponent(void **state)
{
    (void)state;
    const struct pt_chart chart = {.show = PT_SHOW_NUMBER, .unit = "/s"};
    struct pt_str out = {0};
    pt_chart_value(&out, &chart, 123456);
    pt_str_add(&out, ", ");
    pt_chart_value(&out, &chart, 1234.4);
    pt_str_add(&out, ", ");
    pt_chart_value(&out, &chart, 1.2345);
    pt_str_add(&out, ", ");
    pt_chart_mark(&out, &chart, 20000, true);
    assert_string_equal(pt_str_text(&out), "123456 /s, 1234 /s, 1.23 /s, 20000 /s");
    pt_str_fini(&out);
}

static void time_axes_have_a_few_marks(void **state)
{
    (void)state;
    for (double end_s = 1e-3; end_s < 1e10; end_s *= 1.21) {
        const double step = pt_chart_time_step(end_s);
        assert_true(step > 0 && end_s / step <= 6.01);
    }
}

enum { N = 100000 };

static struct pt_chart_series samples(void)
{
    struct pt_chart_series series = {.t_s = calloc(N, sizeof(double)), .values = calloc(N, sizeof(double)), .n = N};
    for (pt_u32 i = 0; i < N; i++) {
        series.t_s[i] = i;
        series.values[i] = 10 + i % 7;
    }
    return series;
}

static void release(struct pt_chart_series *series, struct pt_chart_point *points)
{
    free(series->t_s);
    free(series->values);
    free(points);
}

static void thinning_keeps_peaks_and_gaps(void **state)
{
    (void)state;
    struct pt_chart_series series = samples();
    struct pt_chart_point *points;
    series.values[54321] = 999;
    series.values[65432] = 0.5;
    for (pt_u32 i = 20000; i < 30000; i++)
        series.values[i] = NAN;
    const pt_u32 n = pt_chart_thin(&series, N, 300, &points);
    assert_in_range(n, 400, 600);
    double highest = 0, lowest = 1000;
    pt_u32 starts = 0;
    for (pt_u32 i = 0; i < n; i++) {
        highest = points[i].value > highest ? points[i].value : highest;
        lowest = points[i].value < lowest ? points[i].value : lowest;
        starts += !points[i].joined;
        assert_true(points[i].t_s < 20000 || points[i].t_s >= 30000);
        assert_true(!i || points[i].t_s > points[i - 1].t_s);
    }
    assert_true(highest == 999 && lowest == 0.5);
    assert_int_equal(starts, 2);
    release(&series, points);
}

static void few_samples_stay_as_they_are(void **state)
{
    (void)state;
    double t_s[] = {0, .1, .2, .3}, values[] = {1, 2, NAN, 4};
    const struct pt_chart_series series = {"s", t_s, values, 4};
    struct pt_chart_point *points;
    assert_int_equal(pt_chart_thin(&series, 1000, 300, &points), 3);
    assert_true(!points[0].joined && points[1].joined && !points[2].joined);
    free(points);
}

static void nothing_known_has_no_peak(void **state)
{
    (void)state;
    double t_s[] = {0, 1}, values[] = {NAN, NAN};
    const struct pt_chart_series series = {"s", t_s, values, 2};
    struct pt_chart_point *points;
    assert_int_equal(pt_chart_peak(&series, -INFINITY, INFINITY), 2);
    assert_int_equal(pt_chart_thin(&series, 0, 300, &points), 0);
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_hold_their_values_in_a_few_round_steps),
        cmocka_unit_test(large_numbers_have_no_exponent),
        cmocka_unit_test(time_axes_have_a_few_marks),
        cmocka_unit_test(thinning_keeps_peaks_and_gaps),
        cmocka_unit_test(few_samples_stay_as_they_are),
        cmocka_unit_test(nothing_known_has_no_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
