/* SPDX-License-Identifier: MIT
 *
 * t_grade_file.c - which of the JSON files that a pipeline wrote is its grade report, and why none is.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper_files.h"
#include "pipeline/grade_file.h"
#include "util/auto.h"

#define START_NS 1000000000000ull
#define ALL "{\"run_grade_0_100\": 1, \"precision_proxy\": 2, \"recall_proxy\": 3, \"miss_rate_proxy\": 4}"

static const char *const four[] = {"run_grade_0_100", "precision_proxy", "recall_proxy", "miss_rate_proxy"};

/* A file that was written some milliseconds after the run began. */
static void write_at(const char *name, const char *text, long after_ms)
{
    const long long ns = (long long)START_NS + after_ms * 1000000ll;
    const struct timespec times[2] = {{ns / 1000000000, ns % 1000000000}, {ns / 1000000000, ns % 1000000000}};
    write_text(name, text);
    assert_int_equal(utimensat(AT_FDCWD, name, times, 0), 0);
}

static struct pt_grade_file choose(const char *const *paths, size_t n_paths, const char *const *keys, size_t n_keys)
{
    const struct pt_grade_search search = {paths, n_paths, keys, n_keys, START_NS};
    struct pt_grade_file file;
    pt_grade_file_choose(&search, &file);
    return file;
}

/* Of the files a, b and c. */
static void check_chosen(const char *expected)
{
    static const char *const paths[] = {"a.json", "b.json", "c.json"};
    struct pt_grade_file file = choose(paths, 3, four, 4);
    if (!file.path)
        fail_msg("none: %s", pt_str_text(&file.why_none));
    assert_string_equal(file.path, expected);
    assert_non_null(file.document.json);
    pt_grade_file_fini(&file);
}

static void check_none(const char *path, const char *why)
{
    struct pt_grade_file file = choose(&path, path != NULL, four, 4);
    assert_null(file.path);
    assert_string_equal(pt_str_text(&file.why_none), why);
    pt_grade_file_fini(&file);
}

static void of_equals_the_newest_is_it(void **state)
{
    (void)state;
    write_at("a.json", ALL, 10);
    write_at("b.json", ALL, 30);
    write_at("c.json", ALL, 20);
    check_chosen("b.json");
    /* Also where it stands in what has another form. */
    write_at("a.json", "{\"summary\": " ALL "}", 40);
    check_chosen("a.json");
    /* A value that could not be computed does not make an older report the better one. */
    write_at("c.json",
             "{\"run_grade_0_100\": 0, \"precision_proxy\": NaN, \"recall_proxy\": 0, \"miss_rate_proxy\": 1}", 50);
    check_chosen("c.json");
    /* Those of the same instant: the first one. */
    write_at("a.json", ALL, 60);
    write_at("b.json", ALL, 60);
    check_chosen("a.json");
}

static void more_of_the_keys_are_better(void **state)
{
    (void)state;
    write_at("a.json", ALL, 10);
    write_at("b.json", "{\"precision_proxy\": 0.5}", 15);
    write_at("c.json", "{\"a\": {\"precision_proxy\": 1}, \"b\": {\"precision_proxy\": 2}}", 20);
    check_chosen("a.json");
    write_at("a.json", "{}", 10);
    check_chosen("b.json");
    /* Of a key that is there twice the report says so. */
    write_at("b.json", "{}", 15);
    check_chosen("c.json");
}

static void other_files_are_none(void **state)
{
    (void)state;
    check_none(NULL, "no stage wrote a JSON file");
    check_none("absent.json", "the JSON files that the stages wrote are gone, or are no files");
    assert_int_equal(mkfifo("fifo.json", 0600), 0);
    assert_int_equal(mkdir("folder.json", 0700), 0);
    check_none("fifo.json", "the JSON files that the stages wrote are gone, or are no files");
    check_none("folder.json", "the JSON files that the stages wrote are gone, or are no files");
    write_at("old.json", ALL, -1000);
    check_none("old.json", "old.json is older than this run, so it is not of this run");
    write_at("other.json", "{\"loss\": 1}", 10);
    check_none("other.json", "none of the JSON files that the stages wrote has one of the keys: other.json");
    write_at("broken.json", "{\"recall_proxy\": ", 10);
    check_none("broken.json", "broken.json: line 1, column 18: the text ends where a value is expected");
    /* What cannot have a key is not even parsed. */
    write_at("log.json", "{\"loss\": 1}\n{\"loss\": 2}\n", 10);
    check_none("log.json", "none of the JSON files that the stages wrote has one of the keys: log.json");
    write_at("list.json", "7", 10);
    check_none("list.json", "none of the JSON files that the stages wrote has one of the keys: list.json");
}

static void what_quotes_another_run_is_none(void **state)
{
    (void)state;
    write_at("report.json", "{\"stages\": [], \"quality_metrics\": " ALL "}", 10);
    check_none("report.json", "none of the JSON files that the stages wrote has one of the keys: report.json");
    write_at("config.json", "{\"profile\": {\"quality\": {\"min\": {\"run_grade_0_100\": 50}}}}", 10);
    check_none("config.json", "none of the JSON files that the stages wrote has one of the keys: config.json");
    write_at("config.json", "{\"of\": {\"profile\": {\"quality\": {\"min\": {\"run_grade_0_100\": 50}}}}}", 10);
    check_none("config.json", "none of the JSON files that the stages wrote has one of the keys: config.json");
    /* Elsewhere the same names are nothing special. */
    write_at("a.json", "{\"quality\": {\"min\": {\"run_grade_0_100\": 50}}}", 10);
    write_at("b.json", "{}", 20);
    write_at("c.json", "{}", 20);
    check_chosen("a.json");
}

static void large_files_are_not_read(void **state)
{
    (void)state;
    const char *const paths[] = {"large.json", "small.json"};
    write_at("large.json", ALL, 20);
    assert_int_equal(truncate("large.json", ((off_t)PT_DOCUMENT_MAX_MIB << 20) + 1), 0);
    write_at("small.json", "{}", 10);
    struct pt_grade_file file = choose(paths, 2, four, 4);
    assert_null(file.path);
    assert_string_equal(
        pt_str_text(&file.why_none),
        "none of the JSON files that the stages wrote has one of the keys: small.json; too large or too "
        "many, 1: large.json");
    pt_grade_file_fini(&file);
    file = choose(paths, 1, four, 4);
    assert_string_equal(pt_str_text(&file.why_none),
                        "no JSON file that the stages wrote was read; too large or too many, 1: large.json");
    pt_grade_file_fini(&file);
    write_at("small.json", ALL, 10);
    file = choose(paths, 2, four, 4);
    assert_string_equal(file.path, "small.json");
    pt_grade_file_fini(&file);
}

/* Texts are looked through for names before they are parsed. */
static void check_key(const char *key, const char *text, bool is_there)
{
    const char *const path = "key.json";
    write_at(path, text, 10);
    struct pt_grade_file file = choose(&path, 1, &key, 1);
    assert_int_equal(file.path != NULL, is_there);
    pt_grade_file_fini(&file);
}

static void keys_of_any_form_are_found(void **state)
{
    (void)state;
    check_key("runs.1.f1", "{\"runs\": [{\"f1\": 1}, {\"f1\": 2}]}", true);
    check_key("runs.1.f1", "{\"runs\": [{\"f1\": 1}]}", false);
    check_key("scores.1", "{\"scores\": [1, 2]}", true);
    check_key("0", "[1, 2]", true);
    check_key("0.1", "[[1, 2]]", true);
    check_key("a.b", "{\"a.b\": 1}", true);
    check_key("gr\xc3\xb6\xc3\x9f"
              "e",
              "{\"gr\\u00f6\\u00dfe\": 1}", true);
    check_key("a/b", "{\"a\\/b\": 1}", true);
    check_key("a\"b", "{\"a\\\"b\": 1}", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_equals_the_newest_is_it), cmocka_unit_test(more_of_the_keys_are_better),
        cmocka_unit_test(other_files_are_none),       cmocka_unit_test(what_quotes_another_run_is_none),
        cmocka_unit_test(large_files_are_not_read),   cmocka_unit_test(keys_of_any_form_are_found),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
