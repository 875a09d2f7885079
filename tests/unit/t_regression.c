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
#include <stdio.h>

#include "regression/change_points.h"
#include "regression/figures.h"
#include "regression/judge.h"
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

static const char report_text[] =
    "{\"processes\": [{\"stage\": \"train\"}, {\"stage\": \"eval\"}, {\"stage\": \"train\", \"traced\": false, "
    "\"times\": 3}],"
    " \"stages\": [{\"stage\": \"train\", \"duration_s\": 2.5, \"cpu_s\": null, \"files_opened\": 12, \"requests\": 7,"
    "  \"heap\": {\"allocs\": 100, \"bytes\": null, \"bytes_reason\": \"why\"},"
    "  \"training\": {\"steps\": 40, \"per_epoch\": [{\"samples\": 80}, {\"samples\": 81}]},"
    "  \"gpu\": {\"source\": \"cupti\", \"completeness_percent\": 100, \"devices\": ["
    "   {\"kernels_calls\": 11, \"kernels\": [{\"calls\": 5}], \"copies\": [{\"kind\": \"HtoD\", \"pageable\": true, "
    "\"calls\": 2, \"bytes\": 1000},"
    "    {\"kind\": \"HtoD\", \"pageable\": false, \"calls\": 1, \"bytes\": 24}, {\"kind\": \"DtoD\", \"calls\": 9, "
    "\"bytes\": 9}]},"
    "   {\"kernels_calls\": 1, \"kernels\": [{\"calls\": 1}], \"copies\": [{\"kind\": \"DtoH\", \"calls\": 4, "
    "\"bytes\": 400}]}]},"
    "  \"calls\": [{\"call\": \"read\", \"calls\": 3, \"bytes\": 30}, {\"call\": \"open\", \"calls\": 2, \"bytes\": 0},"
    "   {\"call\": \"lock_wait\", \"calls\": 8}, {\"call\": \"net_receive\", \"calls\": 9, \"bytes\": 90}]}]}";

/* The figures of the first stage of a report, as an entry of a baseline has them. */
static cJSON *entry_of(const char *text)
{
    cJSON *document = cJSON_Parse(text), *entry = cJSON_CreateObject(), *unknown;
    assert_non_null(document);
    const cJSON *stage = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(document, "stages"), 0);
    cJSON_AddItemToObject(entry, "figures", pt_figures_of(document, stage, &unknown));
    cJSON_AddItemToObject(entry, "unknown", unknown);
    cJSON_Delete(document);
    return entry;
}

static void test_the_figures_of_a_stage(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double value; /* NAN = not known */
    } wanted[] = {
        {"wall_s", 2.5},
        {"cpu_s", NAN},
        {"processes", 4},
        {"heap.allocations", 100},
        {"heap.bytes", NAN},
        {"files.opened", 12},
        {"requests", 7},
        {"training.steps", 40},
        {"training.samples", 161},
        {"gpu.kernels", 12},
        {"gpu.copies.HtoD.calls", 3},
        {"gpu.copies.HtoD.bytes", 1024},
        {"gpu.copies.DtoH.calls", 4},
        {"gpu.copies.DtoH.bytes", 400},
        {"gpu.copies.DtoD.calls", 0},
        {"read.calls", 3},
        {"read.bytes", 30},
        {"open.calls", 2},
        {"net_receive.bytes", 90},
        {"write.calls", 0}, /* never made */
    };
    cJSON *entry = entry_of(report_text);
    const cJSON *figures = cJSON_GetObjectItemCaseSensitive(entry, "figures");
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const double value = pt_figure_value(entry, wanted[i].name);
        if (isnan(wanted[i].value))
            assert_true(isnan(value));
        else
            assert_near(value, wanted[i].value);
    }
    assert_null(cJSON_GetObjectItemCaseSensitive(figures, "lock_wait.calls"));
    assert_null(cJSON_GetObjectItemCaseSensitive(figures, "net_receive.calls"));
    assert_null(cJSON_GetObjectItemCaseSensitive(figures, "gpu.copies.DtoD.calls"));
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(
                            cJSON_GetObjectItemCaseSensitive(entry, "unknown"), "heap.bytes")),
                        "why");
    cJSON_Delete(entry);
}

static void test_figures_that_are_not_known(void **state)
{
    (void)state;
    cJSON *entry =
        entry_of("{\"stages\": [{\"stage\": \"a\", \"gpu\": {\"source\": \"nvml\", \"completeness_percent\": null, "
                 "\"reason\": \"no CUPTI\", \"devices\": []}}]}");
    assert_true(isnan(pt_figure_value(entry, "gpu.kernels")));
    assert_true(isnan(pt_figure_value(entry, "gpu.copies.HtoD.bytes")));
    assert_near(pt_figure_value(entry, "training.steps"), 0); /* it does not train */
    cJSON_Delete(entry);
    /* A part of the samples is none that could be compared. */
    static const char *const without_samples[] = {
        "\"per_epoch\": [{\"samples\": 80}, {\"samples\": null, \"samples_reason\": \"why\"}]",
        "\"per_epoch\": [{\"samples\": 80}], \"per_epoch_left_out\": 1",
        "\"per_epoch\": [{}]",
        "\"per_epoch\": []",
    };
    for (size_t i = 0; i < sizeof without_samples / sizeof *without_samples; i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"stages\": [{\"training\": {\"steps\": 40, %s}}]}", without_samples[i]);
        entry = entry_of(text);
        assert_true(isnan(pt_figure_value(entry, "training.samples")));
        assert_near(pt_figure_value(entry, "training.steps"), 40);
        cJSON_Delete(entry);
    }
    entry =
        entry_of("{\"stages\": [{\"not_recorded\": {\"io\": \"why\", \"locks\": \"why\"}, \"calls\": [{\"call\": "
                 "\"read\", \"calls\": 3},"
                 " {\"call\": \"stdio_read\", \"calls\": 4}]}]}"); /* one process recorded its reads, another did not */
    assert_true(isnan(pt_figure_value(entry, "read.calls")));
    assert_true(isnan(pt_figure_value(entry, "write.bytes")));
    assert_near(pt_figure_value(entry, "stdio_read.calls"), 4);
    assert_near(pt_figure_value(entry, "stdio_write.calls"), 0);
    assert_near(pt_figure_value(entry, "net_socket.calls"), 0);
    cJSON_Delete(entry);
    entry = cJSON_Parse("{\"figures\": {\"read.calls\": 1}}"); /* of format 1 */
    assert_true(isnan(pt_figure_value(entry, "files.opened")));
    assert_near(pt_figure_value(entry, "write.calls"), 0);
    cJSON_Delete(entry);
}

/* ---- judgement ---- */

static struct pt_judged judged(const char *name, const double *a, const double *b, size_t n, double threshold_percent)
{
    struct pt_judged figure = {.name = name, .kind = pt_figure_kind_of(name), .n_a = n, .n_b = n, .p = NAN};
    struct pt_doc *doc = pt_doc_new();
    for (size_t i = 0; i < n; i++) {
        figure.a[i] = a[i];
        figure.b[i] = b[i];
    }
    if (pt_figure_is_time(figure.kind))
        pt_figure_test(&figure);
    figure.p_together = figure.p;
    figure.p_less_together = figure.p_less;
    pt_figure_judge(doc, &figure, threshold_percent);
    pt_doc_free(doc);
    figure.how = NULL; /* it lived in the document */
    return figure;
}

static void test_a_time_that_is_nearly_worse(void **state)
{
    (void)state;
    const double before[] = {10.0, 10.1, 10.2, 10.3, 10.4}, equal[] = {10.4, 10.0, 10.2, 10.1, 10.3};
    const double nearly[] = {10.5, 10.6, 10.6, 10.7, 10.8}, worse[] = {11.0, 11.1, 11.2, 11.3, 11.4};
    const struct pt_judged same = judged("wall_s", before, equal, 5, NAN);
    assert_int_equal(same.state, PT_FIGURE_SAME);
    assert_false(same.is_near);
    const struct pt_judged near = judged("wall_s", before, nearly, 5, NAN); /* 4 %, and 5 are needed */
    assert_int_equal(near.state, PT_FIGURE_SAME);
    assert_true(near.is_near);
    assert_int_equal(judged("wall_s", before, worse, 5, NAN).state, PT_FIGURE_WORSE);
    assert_int_equal(judged("wall_s", before, nearly, 5, 3).state, PT_FIGURE_WORSE);
    assert_int_equal(judged("wall_s", before, worse, 5, 20).state, PT_FIGURE_SAME);
    assert_int_equal(judged("wall_s", worse, before, 5, NAN).state, PT_FIGURE_BETTER); /* by the same limits */
    assert_int_equal(judged("wall_s", nearly, before, 5, NAN).state, PT_FIGURE_SAME);
    const struct pt_judged few = judged("wall_s", before, worse, 3, NAN);
    assert_int_equal(few.state, PT_FIGURE_NOT_JUDGED);
    assert_true(few.is_undecided && few.is_near);
}

static void test_a_count_that_is_nearly_worse(void **state)
{
    (void)state;
    const double stable[] = {10000, 10000, 10000, 10000}, little[] = {10150, 10150, 10150, 10150};
    const double less[] = {10050, 10050, 10050, 10050}, varies[] = {10000, 12000, 10000, 10000};
    assert_int_equal(judged("read.calls", stable, little, 4, NAN).state, PT_FIGURE_SAME); /* 1.5 % of 2 % */
    assert_true(judged("read.calls", stable, little, 4, NAN).is_near);
    assert_false(judged("read.calls", stable, less, 4, NAN).is_near);
    assert_int_equal(judged("read.calls", stable, little, 4, 1).state, PT_FIGURE_WORSE);
    assert_int_equal(judged("read.calls", stable, little, 1, NAN).state, PT_FIGURE_SAME);
    assert_int_equal(judged("read.calls", varies, stable, 3, NAN).state, PT_FIGURE_NOT_JUDGED);
    assert_true(judged("read.calls", varies, stable, 3, NAN).is_near);
    assert_false(judged("read.calls", varies, stable, 3, NAN).is_undecided); /* it is said, and stops nobody */
    const double hundredfold[] = {1e6, 1e6, 1e6};
    assert_int_equal(judged("read.calls", varies, hundredfold, 3, NAN).state, PT_FIGURE_NOT_JUDGED);
    assert_true(judged("read.calls", varies, hundredfold, 3, NAN).is_undecided); /* but this nobody can tell */
}

static void test_a_count_of_runs_that_disagree(void **state)
{
    (void)state;
    const double before[] = {200, 200, 200, 200}, one[] = {200, 400, 200, 200}, half[] = {400, 200, 400, 200};
    const double most[] = {400, 200, 400, 400}, fewer[] = {100, 200, 100, 100};
    assert_int_equal(judged("open.calls", before, one, 4, NAN).state, PT_FIGURE_SAME);
    const struct pt_judged split = judged("open.calls", before, half, 4, NAN);
    assert_int_equal(split.state, PT_FIGURE_NOT_JUDGED);
    assert_true(split.is_undecided && split.is_near);
    assert_int_equal(judged("open.calls", before, most, 4, NAN).state, PT_FIGURE_WORSE);
    assert_int_equal(judged("open.calls", before, fewer, 4, NAN).state, PT_FIGURE_BETTER);
}

/* A count of one run against a history, the oldest first. */
static struct pt_judged held_against(const double *history, size_t n, double run)
{
    struct pt_judged figure = {.name = "read.calls", .kind = PT_FIGURE_COUNT, .n_a = n, .b = {run}, .n_b = 1, .p = NAN};
    struct pt_doc *doc = pt_doc_new();
    for (size_t i = 0; i < n; i++)
        figure.a[n - 1 - i] = history[i];
    pt_figure_take_level(&figure);
    pt_figure_judge(doc, &figure, NAN);
    pt_doc_free(doc);
    figure.how = NULL;
    return figure;
}

/* A change that was accepted leaves no room for four times as much. */
static void test_a_count_is_held_against_its_last_level(void **state)
{
    (void)state;
    double once[20], down[20], up[20], back[20], few[20], to_and_fro[20];
    for (size_t i = 0; i < 20; i++) {
        once[i] = i < 19 ? 1000 : 2000;
        down[i] = i < 10 ? 2000 : 1000;
        up[i] = i < 10 ? 1000 : 2000;
        back[i] = i < 7 || i >= 9 ? 1000 : 2000;
        few[i] = i < 17 ? 2000 : 1000;
        to_and_fro[i] = i % 3 ? 1000 : 2000;
    }
    assert_int_equal(held_against(once, 20, 3900).state, PT_FIGURE_WORSE);
    assert_int_equal(held_against(once, 20, 2000).state, PT_FIGURE_SAME); /* which was accepted */
    assert_int_equal(held_against(once, 20, 1000).state, PT_FIGURE_SAME);
    assert_int_equal(held_against(down, 20, 2000).state, PT_FIGURE_WORSE);
    assert_int_equal(held_against(down, 20, 1000).state, PT_FIGURE_SAME);
    assert_int_equal(held_against(up, 20, 2100).state, PT_FIGURE_WORSE);
    assert_int_equal(held_against(up, 20, 1000).state, PT_FIGURE_BETTER);
    assert_int_equal(held_against(back, 20, 2000).state, PT_FIGURE_WORSE);
    assert_int_equal(held_against(few, 20, 2000).state, PT_FIGURE_SAME); /* three runs are no level yet */
    assert_int_equal(held_against(few, 20, 2500).state, PT_FIGURE_WORSE);
    assert_int_equal(held_against(to_and_fro, 20, 2000).state, PT_FIGURE_SAME);
    assert_int_equal(held_against(to_and_fro, 20, 3900).state, PT_FIGURE_SAME);
    assert_int_equal(held_against(down + 10 - 3, 6, 2000).state, PT_FIGURE_SAME); /* three of each may be chance */
}

/* Five runs of about so many seconds against a history, the oldest first. */
static enum pt_figure_state timed_against(const double *history_s, size_t n, double run_s)
{
    struct pt_judged figure = {.name = "wall_s", .kind = PT_FIGURE_WALL, .n_a = n, .n_b = 5, .p = NAN, .p_less = NAN};
    struct pt_doc *doc = pt_doc_new();
    for (size_t i = 0; i < n; i++)
        figure.a[n - 1 - i] = history_s[i] * (1 + 0.002 * (double)(i % 5));
    for (size_t i = 0; i < 5; i++)
        figure.b[i] = run_s * (1.001 + 0.002 * (double)i);
    pt_figure_take_level(&figure);
    pt_figure_test(&figure);
    figure.p_together = figure.p;
    figure.p_less_together = figure.p_less;
    pt_figure_judge(doc, &figure, NAN);
    pt_doc_free(doc);
    return figure.state;
}

/* Half of the history at each level: twice the time was no more than chance, and the accepted time a regression. */
static void test_a_time_is_held_against_its_last_level(void **state)
{
    (void)state;
    double up[20], down[20];
    for (size_t i = 0; i < 20; i++) {
        up[i] = i < 10 ? 10 : 20;
        down[i] = i < 10 ? 20 : 10;
    }
    assert_int_equal(timed_against(up, 20, 20), PT_FIGURE_SAME);
    assert_int_equal(timed_against(up, 20, 10), PT_FIGURE_BETTER);
    assert_int_equal(timed_against(down, 20, 20), PT_FIGURE_WORSE);
    assert_int_equal(timed_against(down, 20, 10), PT_FIGURE_SAME);
}

/* ---- levels of a history ---- */

static const struct pt_change_rules counts = {2, 0.02, 10, 0}, times = {4, 0.05, 0.05, 0.05};

static void test_a_count_that_changed_and_came_back(void **state)
{
    (void)state;
    const double values[] = {100, 100, 100, 150, 150, 150, 100, 100};
    struct pt_change_point found[PT_SAMPLE_MOST];
    assert_int_equal(pt_change_points(values, 8, &counts, found), 2);
    assert_int_equal(found[0].at, 3);
    assert_near(found[0].before, 100);
    assert_near(found[0].after, 150);
    assert_int_equal(found[1].at, 6);
    assert_near(found[1].after, 100);
}

static void test_what_is_no_change_of_a_count(void **state)
{
    (void)state;
    struct pt_change_point found[PT_SAMPLE_MOST];
    const double once[] = {100, 100, 100, 900, 100, 100, 100}; /* one odd run */
    const double varies[] = {100, 140, 120, 160, 110, 150, 130, 170};
    const double little[] = {1000, 1000, 1000, 1009, 1009, 1009};
    const double few[] = {1, 1, 1, 9, 9, 9};
    assert_int_equal(pt_change_points(once, 7, &counts, found), 0);
    assert_int_equal(pt_change_points(varies, 8, &counts, found), 0);
    assert_int_equal(pt_change_points(little, 6, &counts, found), 0);
    assert_int_equal(pt_change_points(few, 6, &counts, found), 0);
    assert_int_equal(pt_change_points(few, 1, &counts, found), 0);
    assert_int_equal(pt_change_points(few, 0, &counts, found), 0);
}

/* A stream of numbers that look random, of mean 0 and deviation 1 or so: the sum of 12 uniform ones. */
static double next_noise(uint64_t *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*seed >> 11) / (double)(1ull << 53);
    }
    return sum;
}

/* How many of `series` histories of 24 runs have a change of a time, when all runs from `at` on take `by` longer. */
static int with_a_change(int series, size_t at, double by, size_t *ret_within_one)
{
    uint64_t seed = 42;
    int found_in = 0;
    *ret_within_one = 0;
    for (int i = 0; i < series; i++) {
        double values[24];
        struct pt_change_point found[PT_SAMPLE_MOST];
        for (size_t j = 0; j < 24; j++)
            values[j] = (j >= at ? 10 * (1 + by) : 10) * (1 + 0.04 * next_noise(&seed)); /* 4 % from run to run */
        const size_t n = pt_change_points(values, 24, &times, found);
        found_in += n > 0;
        *ret_within_one += n == 1 && found[0].at + 1 >= at && found[0].at <= at + 1;
    }
    return found_in;
}

static void test_times_that_only_vary_have_no_change(void **state)
{
    (void)state;
    size_t unused;
    assert_true(with_a_change(400, 24, 0, &unused) <= 8); /* 2 % */
}

static void test_ten_percent_are_found_with_their_run(void **state)
{
    (void)state;
    size_t within_one;
    assert_true(with_a_change(400, 12, 0.10, &within_one) >= 350);
    assert_true(within_one >= 300);
}

static void test_the_last_values_of_a_long_history(void **state)
{
    (void)state;
    double values[200];
    struct pt_change_point found[PT_SAMPLE_MOST];
    for (size_t i = 0; i < 200; i++)
        values[i] = i < 170 ? 100 : 200;
    assert_int_equal(pt_change_points(values, 200, &counts, found), 1);
    assert_int_equal(found[0].at, 170);
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
        cmocka_unit_test(test_the_figures_of_a_stage),
        cmocka_unit_test(test_figures_that_are_not_known),
        cmocka_unit_test(test_a_time_that_is_nearly_worse),
        cmocka_unit_test(test_a_count_that_is_nearly_worse),
        cmocka_unit_test(test_a_count_of_runs_that_disagree),
        cmocka_unit_test(test_a_count_is_held_against_its_last_level),
        cmocka_unit_test(test_a_time_is_held_against_its_last_level),
        cmocka_unit_test(test_a_count_that_changed_and_came_back),
        cmocka_unit_test(test_what_is_no_change_of_a_count),
        cmocka_unit_test(test_times_that_only_vary_have_no_change),
        cmocka_unit_test(test_ten_percent_are_found_with_their_run),
        cmocka_unit_test(test_the_last_values_of_a_long_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
