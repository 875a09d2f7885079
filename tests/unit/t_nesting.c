/* SPDX-License-Identifier: MIT
 *
 * t_nesting.c - slices of one row nest, whatever comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "export/timeline/nesting.h"

#define N_SLICES 30000

struct slice {
    pt_i64 start, end;
};

static struct pt_nesting new_track(void)
{
    return (struct pt_nesting){.until_ns = 1000000, .forgotten_until_ns = INT64_MIN};
}

static bool place(struct pt_nesting *nesting, pt_i64 start, pt_i64 end, pt_i64 want_start, pt_i64 want_end)
{
    const bool taken = pt_nesting_place(nesting, &start, &end);
    if (taken) {
        assert_int_equal(start, want_start);
        assert_int_equal(end, want_end);
    }
    return taken;
}

static void test_siblings_and_parents(void **state)
{
    (void)state;
    struct pt_nesting nesting = new_track();
    assert_true(place(&nesting, 100, 200, 100, 200));
    assert_true(place(&nesting, 200, 300, 200, 300));
    assert_true(place(&nesting, 100, 300, 100, 300));
    assert_true(place(&nesting, 50, 400, 50, 400));
    assert_int_equal(nesting.n_spans, 1);
    pt_nesting_free(&nesting);
}

static void test_rounding_is_repaired(void **state)
{
    (void)state;
    struct pt_nesting nesting = new_track();
    assert_true(place(&nesting, 1000, 2000, 1000, 2000));
    assert_true(place(&nesting, 1999, 3000, 2000, 3000)); /* the next call, a nanosecond early */
    assert_true(place(&nesting, 1003, 4000, 1000, 4000)); /* the caller, a clock tick late */
    assert_true(place(&nesting, 3500, 4001, 3500, 4000)); /* a call in it, delivered after it */
    pt_nesting_free(&nesting);
}

/* Of slices that begin together the outer one is told first, or not on this row. */
static void test_late_parents_are_refused(void **state)
{
    (void)state;
    struct pt_nesting nesting = new_track();
    nesting.refuses_late_parents = true;
    nesting.from_ns = 100;
    assert_true(place(&nesting, 100, 200, 100, 200));
    assert_true(place(&nesting, 100, 300, 100, 300)); /* where the row begins nobody is late */
    assert_true(place(&nesting, 1000, 2000, 1000, 2000));
    assert_false(place(&nesting, 1000, 2500, 0, 0));
    assert_true(place(&nesting, 1000, 2000, 1000, 2000)); /* of two alike the second is the inner one */
    assert_true(place(&nesting, 999, 2500, 999, 2500));
    pt_nesting_range_begin(&nesting, 3000, 1);
    assert_true(place(&nesting, 3000, 3100, 3000, 3100)); /* the range was told when it began */
    struct pt_nesting_range range;
    pt_i64 end = 3200;
    assert_true(pt_nesting_range_end(&nesting, &end, &range));
    assert_false(place(&nesting, 3000, 3300, 0, 0));
    pt_nesting_free(&nesting);
}

static void test_half_overlap_is_refused(void **state)
{
    (void)state;
    struct pt_nesting nesting = new_track();
    assert_true(place(&nesting, 1000, 2000, 1000, 2000));
    assert_false(place(&nesting, 1500, 2500, 0, 0));
    assert_true(place(&nesting, 2000, 2500, 2000, 2500));
    pt_nesting_range_begin(&nesting, 3000, 1);
    assert_false(place(&nesting, 2800, 3500, 0, 0)); /* a call that the range cuts */
    assert_true(place(&nesting, 3200, 3500, 3200, 3500));
    struct pt_nesting_range range;
    pt_i64 end = 3400; /* earlier than what it holds */
    assert_true(pt_nesting_range_end(&nesting, &end, &range));
    assert_int_equal(end, 3500);
    assert_false(pt_nesting_range_end(&nesting, &end, &range));
    pt_nesting_free(&nesting);
}

static void test_a_range_encloses_any_number(void **state)
{
    (void)state;
    struct pt_nesting nesting = new_track();
    assert_true(place(&nesting, 0, 10, 0, 10));
    pt_nesting_range_begin(&nesting, 10, 1);
    for (pt_i64 at = 10; at < 10 + 20 * (pt_i64)PT_NESTING_SPANS; at += 10)
        assert_true(place(&nesting, at, at + 10, at, at + 10));
    struct pt_nesting_range range;
    pt_i64 end = 900000;
    assert_true(pt_nesting_range_end(&nesting, &end, &range));
    assert_int_equal(range.start_ns, 10);
    assert_true(place(&nesting, 0, 950000, 0, 950000));
    assert_int_equal(nesting.n_spans, 1);
    pt_nesting_free(&nesting);
}

static int slice_order(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

static int end_order(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    return (x->end > y->end) - (x->end < y->end);
}

static void assert_nested(struct slice *slices, size_t n)
{
    static pt_i64 open[2 * N_SLICES];
    size_t depth = 0;
    qsort(slices, n, sizeof *slices, slice_order);
    for (size_t i = 0; i < n; i++) {
        while (depth && open[depth - 1] <= slices[i].start)
            depth--;
        if (depth)
            assert_true(slices[i].end <= open[depth - 1]);
        if (slices[i].end > slices[i].start)
            open[depth++] = slices[i].end;
    }
}

static void test_anything_at_all(void **state)
{
    (void)state;
    static struct slice in[N_SLICES], out[2 * N_SLICES];
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct pt_nesting nesting = new_track();
        struct pt_nesting_range range;
        size_t n = 0;
        srandom(seed);
        for (size_t i = 0; i < N_SLICES; i++) {
            in[i].start = random() % 200000;
            in[i].end = in[i].start + random() % (random() % 8 ? 30 : 50000);
        }
        qsort(in, N_SLICES, sizeof *in, end_order);
        for (size_t i = 0; i < N_SLICES; i++) {
            if (random() % 8 == 0)
                pt_nesting_range_begin(&nesting, in[i].end, 1);
            struct slice slice = in[i];
            if (random() % 8 == 0 && pt_nesting_range_end(&nesting, &slice.end, &range))
                out[n++] = (struct slice){range.start_ns, slice.end};
            slice = in[i];
            if (pt_nesting_place(&nesting, &slice.start, &slice.end))
                out[n++] = slice;
        }
        for (pt_i64 end = 300000; pt_nesting_range_end(&nesting, &end, &range);)
            out[n++] = (struct slice){range.start_ns, end};
        assert_true(n < 2 * N_SLICES);
        assert_nested(out, n);
        pt_nesting_free(&nesting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siblings_and_parents),        cmocka_unit_test(test_rounding_is_repaired),
        cmocka_unit_test(test_late_parents_are_refused),    cmocka_unit_test(test_half_overlap_is_refused),
        cmocka_unit_test(test_a_range_encloses_any_number), cmocka_unit_test(test_anything_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
