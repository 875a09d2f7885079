/* SPDX-License-Identifier: MIT
 *
 * Names that differ in their numbers only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/auto.h"
#include "util/text/fold.h"
#include "util/text/path.h"

static void check_pair(const char *a, const char *b, const char *wanted)
{
    PT_AUTO(pt_str_fini) struct pt_str of_a = {0}, of_b = {0}, shown = {0};
    pt_fold_numbers(&of_a, a);
    pt_fold_numbers(&of_b, b);
    assert_string_equal(pt_str_text(&of_a), pt_str_text(&of_b));
    pt_fold_some_numbers(&shown, a, pt_numbers_apart(a, b));
    assert_string_equal(pt_str_text(&shown), wanted);
    PT_AUTO(pt_str_fini) struct pt_str again = {0};
    pt_fold_numbers(&again, wanted);
    assert_string_equal(pt_str_text(&again), pt_str_text(&of_a));
}

static void only_what_differs_is_hidden(void **state)
{
    (void)state;
    check_pair("/tmp/owner2/shards/x-1.npy", "/tmp/owner2/shards/x-12.npy", "/tmp/owner2/shards/x-*.npy");
    check_pair("/run1/a", "/run2/a", "/run*/a");
    check_pair("/v2/3/4", "/v2/5/4", "/v2/*/4");
    check_pair("/v2/3", "/v2/3", "/v2/3");
    check_pair("007", "7", "*");
    check_pair("no number", "no number", "no number");
}

/* Numbers beyond those that are told apart are one. */
static void names_of_many_numbers(void **state)
{
    (void)state;
    PT_AUTO(pt_str_fini) struct pt_str a = {0}, b = {0}, shown = {0};
    for (int i = 0; i < 100; i++) {
        pt_str_printf(&a, "/%d", i);
        pt_str_printf(&b, "/%d", i == 90 ? 5 : i);
    }
    const uint64_t apart = pt_numbers_apart(pt_str_text(&a), pt_str_text(&b));
    assert_true(apart == (uint64_t)1 << 63);
    pt_fold_some_numbers(&shown, pt_str_text(&a), apart);
    assert_true(shown.n < a.n);
}

static void the_last_component_of_a_path(void **state)
{
    (void)state;
    assert_string_equal(pt_base_name("/usr/bin/python3"), "python3");
    assert_string_equal(pt_base_name("train.py"), "train.py");
    assert_string_equal(pt_base_name("/app/data/"), "/app/data/");
    assert_string_equal(pt_base_name("/"), "/");
    assert_string_equal(pt_base_name(""), "");
    assert_null(pt_base_name(NULL));
}

static void the_end_of_a_name(void **state)
{
    (void)state;
    assert_true(pt_ends_with("/app/train.py", ".py"));
    assert_true(pt_ends_with(".py", ".py"));
    assert_true(pt_ends_with("train", ""));
    assert_false(pt_ends_with("train.pyc", ".py"));
    assert_false(pt_ends_with("py", ".py"));
    assert_false(pt_ends_with("", ".py"));
}

static void a_name_that_says_nothing_has_its_folder(void **state)
{
    (void)state;
    assert_string_equal(pt_telling_name("/app/pkg/__init__.py"), "pkg/__init__.py");
    assert_string_equal(pt_telling_name("/pkg/__main__.py"), "pkg/__main__.py");
    assert_string_equal(pt_telling_name("pkg/__init__.py"), "pkg/__init__.py");
    assert_string_equal(pt_telling_name("__init__.py"), "__init__.py");
    assert_string_equal(pt_telling_name("/__init__.py"), "__init__.py");
    assert_string_equal(pt_telling_name("/app/train.py"), "train.py");
    assert_null(pt_telling_name(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_differs_is_hidden),
        cmocka_unit_test(names_of_many_numbers),
        cmocka_unit_test(the_last_component_of_a_path),
        cmocka_unit_test(the_end_of_a_name),
        cmocka_unit_test(a_name_that_says_nothing_has_its_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
