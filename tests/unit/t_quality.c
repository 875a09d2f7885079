/* SPDX-License-Identifier: MIT
 *
 * t_quality.c - quality metrics out of grade reports of any form: found, or null with the reason; and a floor that
 * cannot be checked does not pass.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "helper_files.h"
#include "pipeline/config_read.h"
#include "pipeline/quality.h"
#include "util/auto.h"

#define SECOND_NS 1000000000ull

/* Read grade.json with a section `quality`. */
static struct pt_quality_metrics read_quality(const char *section, pt_u64 start_ns)
{
    struct pt_quality_metrics quality;
    struct pt_config *config = NULL;
    struct pt_error err = {0};
    char text[600];
    snprintf(text, sizeof text, "{\"profile\": {\"quality\": %s}}", section);
    write_text("config.json", text);
    if (pt_config_read("config.json", NULL, &config, &err) < 0)
        fail_msg("%s", err.text);
    pt_quality_read(config, start_ns, &quality);
    /* Keys are texts of the configuration, which goes here: keep those of the tables only. */
    for (size_t i = 0; i < quality.n; i++)
        quality.items[i].key = NULL;
    pt_config_free(config);
    return quality;
}

static size_t n_broken(const struct pt_quality_metrics *quality)
{
    size_t n = 0;
    for (size_t i = 0; i < quality->n; i++)
        n += pt_quality_is_broken(&quality->items[i]);
    return n;
}

/* Read it without floors; the metric's reason, with the directory cut off, or the value. */
static void check(const char *grade, const char *section, size_t index, double value, const char *reason)
{
    write_text("grade.json", grade);
    PT_AUTO(pt_quality_fini) struct pt_quality_metrics quality = read_quality(section, 0);
    assert_in_range(index, 0, quality.n - 1);
    const struct pt_run_quality *metric = &quality.items[index];
    if (!reason) {
        assert_null(metric->reason);
        assert_true(metric->value == value);
        return;
    }
    assert_non_null(metric->reason);
    assert_true(isnan(metric->value));
    const char *name = strstr(metric->reason, "grade.json");
    assert_string_equal(name ? name : metric->reason, reason);
}

#define FILE_ONLY "{\"file\": \"grade.json\"}"

static void the_documents_keys_are_found(void **state)
{
    (void)state;
    write_text("grade.json", "{\"run_grade_0_100\": 72.5, \"precision_proxy\": 0.85, \"recall_proxy\": 0.78,"
                             " \"miss_rate_proxy\": 0.22, \"f1\": 1}");
    PT_AUTO(pt_quality_fini)
    struct pt_quality_metrics quality =
        read_quality("{\"file\": \"grade.json\", \"keys\": [\"recall_proxy\", \"f1\"]}", 0);
    assert_int_equal(quality.n, 5);
    assert_int_equal(n_broken(&quality), 0);
    const double expected[] = {72.5, 0.85, 0.78, 0.22, 1};
    for (size_t i = 0; i < 5; i++)
        assert_true(quality.items[i].value == expected[i] && !quality.items[i].reason);
}

static void nested_keys_are_found(void **state)
{
    (void)state;
    check("{\"summary\": {\"all\": {\"precision_proxy\": 0.5}}}", FILE_ONLY, 1, 0.5, NULL);
    check("[{\"precision_proxy\": 0.5}]", FILE_ONLY, 1, 0.5, NULL);
    check("{\"runs\": [{\"f1\": 1}, {\"f1\": 2}]}", "{\"file\": \"grade.json\", \"keys\": [\"runs.1.f1\"]}", 4, 2,
          NULL);
    check("{\"a.b\": 3, \"a\": {\"b\": 4}}", "{\"file\": \"grade.json\", \"keys\": [\"a.b\"]}", 4, 3, NULL);
    /* At the top it is meant, wherever else it is. */
    check("{\"old\": {\"recall_proxy\": 1}, \"recall_proxy\": 2}", FILE_ONLY, 2, 2, NULL);
    /* A path to one of the four says where that one is. */
    const char *two = "{\"train\": {\"recall_proxy\": 1}, \"test\": {\"recall_proxy\": 2}}";
    check(two, "{\"file\": \"grade.json\", \"keys\": [\"test.recall_proxy\"]}", 2, 2, NULL);
    check(
        two, FILE_ONLY, 2, 0,
        "grade.json: recall_proxy is there 2 times (train.recall_proxy, test.recall_proxy); put the one you mean into "
        "profile.quality.keys");
}

static void what_is_missing_has_a_reason(void **state)
{
    (void)state;
    check("{}", "{}", 0, 0, "profile.quality.file is not set, and nobody looked for a grade report");
    check("{}", "{\"file\": \"/no/such\"}", 0, 0, "/no/such: there is no such file; check the path");
    check("{}", FILE_ONLY, 0, 0, "grade.json: has no key run_grade_0_100");
    check("{\"run_grade_0_100\": \"A\"}", FILE_ONLY, 0, 0,
          "grade.json: run_grade_0_100: expected a number, found the string \"A\"");
    check("{\"run_grade_0_100\": true}", FILE_ONLY, 0, 0, "grade.json: run_grade_0_100: expected a number, found true");
    check("{\"run_grade_0_100\": NaN}", FILE_ONLY, 0, 0, "grade.json: run_grade_0_100 is null or NaN");
    check("{\"run_grade_0_100\": 1e999}", FILE_ONLY, 0, 0,
          "grade.json: run_grade_0_100: expected a number, found the number inf");
    check("{\"precision_proxy\": 0.5, \"run_grade_0_100\": NaN}", FILE_ONLY, 1, 0.5, NULL);
    check("7", FILE_ONLY, 0, 0, "grade.json: holds no keys: expected an object at the top");
    check("{\"run", FILE_ONLY, 0, 0, "grade.json: line 1, column 2: a string without its closing \"");
    check("", FILE_ONLY, 0, 0, "grade.json: the file is empty; the smallest JSON document is {}");
}

static void a_fifo_does_not_hold_us(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    PT_AUTO(pt_quality_fini) struct pt_quality_metrics quality = read_quality("{\"file\": \"fifo\"}", 0);
    assert_non_null(strstr(quality.items[0].reason, "fifo: this is not a regular file; name the JSON file"));
}

static void a_file_of_another_run_does_not_count(void **state)
{
    (void)state;
    struct timespec past[2] = {{1000, 5}, {1000, 5}};
    write_text("grade.json", "{\"run_grade_0_100\": 72.5}");
    PT_AUTO(pt_quality_fini) struct pt_quality_metrics fresh = read_quality(FILE_ONLY, (pt_u64)time(NULL) * SECOND_NS);
    assert_true(fresh.items[0].value == 72.5);
    assert_int_equal(utimensat(AT_FDCWD, "grade.json", past, 0), 0);
    PT_AUTO(pt_quality_fini) struct pt_quality_metrics old = read_quality(FILE_ONLY, 1001 * SECOND_NS);
    assert_true(isnan(old.items[0].value));
    assert_non_null(strstr(old.items[0].reason, "grade.json: older than this run, so it is not of this run"));
    /* A file system that knows only seconds. */
    past[1] = (struct timespec){1000, 0};
    assert_int_equal(utimensat(AT_FDCWD, "grade.json", past, 0), 0);
    PT_AUTO(pt_quality_fini)
    struct pt_quality_metrics coarse = read_quality(FILE_ONLY, 1000 * SECOND_NS + SECOND_NS / 2);
    assert_true(coarse.items[0].value == 72.5);
}

static void floors_are_judged(void **state)
{
    (void)state;
    write_text("grade.json", "{\"run_grade_0_100\": 72.5, \"precision_proxy\": 0.61, \"nested\": {\"f1\": 0.5}}");
    PT_AUTO(pt_quality_fini)
    struct pt_quality_metrics quality =
        read_quality("{\"file\": \"grade.json\", \"min\": {\"run_grade_0_100\": 72.5, \"precision_proxy\": 0.7,"
                     " \"nested.f1\": 0.4, \"absent\": 0}}",
                     0);
    assert_int_equal(quality.n, 6);
    assert_int_equal(n_broken(&quality), 2);
    assert_true(!pt_quality_is_broken(&quality.items[0]) && pt_quality_is_broken(&quality.items[1]) &&
                !pt_quality_is_broken(&quality.items[2]));
    assert_true(!pt_quality_is_broken(&quality.items[4]) && quality.items[4].value == 0.5);
    assert_true(pt_quality_is_broken(&quality.items[5]) && isnan(quality.items[5].value));
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    quality.items[1].key = "precision_proxy";
    quality.items[5].key = "absent";
    pt_quality_describe_broken(&quality.items[1], &text);
    assert_string_equal(text.text, "precision_proxy is 0.61, below its floor of 0.7");
    pt_str_clear(&text);
    pt_quality_describe_broken(&quality.items[5], &text);
    assert_non_null(strstr(text.text, "absent is not known, so its floor of 0 cannot be checked: /"));
    assert_non_null(strstr(text.text, "grade.json: has no key absent"));
}

/* 500 levels, and a key at the bottom. */
static void deep_documents_are_searched(void **state)
{
    (void)state;
    static char text[5000];
    size_t n = 0;
    for (int i = 0; i < 499; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"a\":");
    n += (size_t)snprintf(text + n, sizeof text - n, "{\"f1\":0.25}");
    memset(text + n, '}', 499);
    check(text, "{\"file\": \"grade.json\", \"keys\": [\"f1\"]}", 4, 0.25, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documents_keys_are_found),         cmocka_unit_test(nested_keys_are_found),
        cmocka_unit_test(what_is_missing_has_a_reason),         cmocka_unit_test(a_fifo_does_not_hold_us),
        cmocka_unit_test(a_file_of_another_run_does_not_count), cmocka_unit_test(floors_are_judged),
        cmocka_unit_test(deep_documents_are_searched),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
