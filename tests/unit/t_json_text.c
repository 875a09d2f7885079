/* SPDX-License-Identifier: MIT
 *
 * t_json_text.c - what is JSON and what only looks like it; and no text, however cut, makes the checker read past it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/auto.h"
#include "util/json/json_text.h"
#include "util/json/json_walk.h"

static void mistakes_have_a_place(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"{\n  // why\n}", "line 2, column 3: JSON has no comments; remove this one"},
        {"{\"a\": 1, # b\n}", "line 1, column 10: JSON has no comments; remove this one"},
        {"{\"a\": 1,\n}", "line 1, column 8: a comma behind the last value; remove it"},
        {"[1 2]", "line 1, column 4: expected ',' or ']', found '2'"},
        {"{\"\xc3\xa4\" 1}", "line 1, column 6: expected ':', found '1'"},
        {"{a: 1}", "line 1, column 2: expected a name in double quotes, found 'a'"},
        {"{'a': 1}", "line 1, column 2: JSON quotes with \", not with '"},
        {"{\"a\": NaN}", "line 1, column 7: NaN is not a number in JSON; write null or leave the key out"},
        {"[-Infinity]", "line 1, column 2: Infinity is not a number in JSON; write null or leave the key out"},
        {"[True]", "line 1, column 2: JSON writes true, not True"},
        {"[truely]", "line 1, column 2: expected a value, found 't'"},
        {"{\"a\": ", "line 1, column 7: the text ends where a value is expected"},
        {"{\"a\"", "line 1, column 5: the text ends where ':' is expected"},
        {"{} {}", "line 1, column 4: expected the end of the document, found '{'"},
        {"[01]", "line 1, column 2: a number that starts with 0; remove the 0"},
        {"[1.]", "line 1, column 4: expected a digit, found ']'"},
        {"[+1]", "line 1, column 2: expected a value, found '+'"},
        {"\"a\nb\"", "line 1, column 1: a string without its closing \"; a line break in a string is \\n"},
        {"\"a", "line 1, column 1: a string without its closing \""},
        {"\"\t\"", "line 1, column 2: a control character in a string; write it as \\u00XX, a tab as \\t"},
        {"\"C:\\dir\"", "line 1, column 4: an unknown escape; write \\\\ for a backslash"},
        {"\"\\u00g0\"", "line 1, column 2: \\u needs four hexadecimal digits"},
        {"\"\\u0000\"", "line 1, column 2: \\u0000 cannot be part of a name, a path or an argument; remove it"},
        {"\"\\ud800\"", "line 1, column 2: half of a surrogate pair; write the character itself"},
        {"\"\xff\"", "line 1, column 2: not UTF-8: byte 0xff; save the file as UTF-8"},
        {"[\x01]", "line 1, column 2: expected a value, found the control character 0x01"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pt_error err = {0};
        assert_int_equal(pt_json_text_check(rows[i][0], strlen(rows[i][0]), &err), -1);
        assert_string_equal(err.text, rows[i][1]);
        assert_int_equal(err.exit_code, 2);
    }
}

static void what_is_valid_is_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}", "[]", " 0 ", "-0.5e+10", "\"\"", "null", "{\"a\":{\"b\":[[],{},[1,2,\"\\\"]}\"]]}}", "\"\\ud83d\\ude00\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pt_error err = {0};
        if (pt_json_text_check(texts[i], strlen(texts[i]), &err) < 0)
            fail_msg("%s: %s", texts[i], err.text);
        const struct pt_json_span span = pt_json_text_value(texts[i], 0);
        assert_int_equal(span.end, strlen(texts[i]) - (texts[i][0] == ' '));
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    static char text[100000];
    struct pt_error err = {0};
    memset(text, '[', sizeof text);
    assert_int_equal(pt_json_text_check(text, sizeof text, &err), -1);
    assert_string_equal(err.text, "line 1, column 501: nested deeper than 500 levels");
}

/* Each would be an object of cJSON. */
static void values_are_bounded(void **state)
{
    (void)state;
    const size_t n = 2ull * (PT_JSON_TEXT_MAX_VALUES + 10) + 1;
    struct pt_error err = {0};
    char *text = malloc(n);
    for (size_t i = 0; i < n; i++)
        text[i] = i % 2 ? '0' : ',';
    text[0] = '[';
    text[n - 1] = ']';
    assert_int_equal(pt_json_text_check(text, n, &err), -1);
    assert_non_null(strstr(err.text, "more values than can be read"));
    free(text);
}

/* In a block of exactly its size: a read behind the end is seen by the sanitizers. */
static void every_cut_is_refused(void **state)
{
    (void)state;
    static const char whole[] = "{\"a\\u00e4\\ud83d\\ude00\": [-1.5e-3, true, null, \"\xe2\x82\xac\"], \"b\": {}}";
    for (size_t n = 0; n < sizeof whole - 1; n++) {
        struct pt_error err = {0};
        char *cut = malloc(n ? n : 1);
        memcpy(cut, whole, n);
        assert_int_equal(pt_json_text_check(cut, n, &err), -1);
        free(cut);
    }
}

static void pythons_numbers_become_null(void **state)
{
    (void)state;
    static const char text[] = "{\"NaN\": NaN, \"a\": [-Infinity, Infinity, -1, \"\\\"NaN\"]}";
    struct pt_error err = {0};
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    assert_int_equal(pt_json_text_check_python(text, strlen(text), &err), 0);
    pt_json_text_without_nan(text, strlen(text), &out);
    assert_string_equal(out.text, "{\"NaN\": null, \"a\": [null, null, -1, \"\\\"NaN\"]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_have_a_place),     cmocka_unit_test(values_are_bounded),
        cmocka_unit_test(what_is_valid_is_accepted), cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(every_cut_is_refused),      cmocka_unit_test(pythons_numbers_become_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
