/* SPDX-License-Identifier: MIT
 *
 * Metrics: what is set is found, scopes do not mix, unknown stays unknown, tables keep their rows.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "profile/metrics.h"

static void values_are_found_by_scope_and_name(void **state)
{
    (void)state;
    struct pt_metrics m = {0};
    for (pt_u32 i = 0; i < 1000; i++) {
        pt_metrics_set(&m, pt_scope_process(i), "heap.bytes", pt_integer(i));
        pt_metrics_set(&m, pt_scope_stage(i), "heap.bytes", pt_integer(i + 5000));
    }
    pt_metrics_set(&m, pt_scope_process(7), "heap.bytes", pt_integer(77));
    assert_int_equal(pt_metrics_get(&m, pt_scope_process(999), "heap.bytes").integer, 999);
    assert_int_equal(pt_metrics_get(&m, pt_scope_stage(999), "heap.bytes").integer, 5999);
    assert_int_equal(pt_metrics_get(&m, pt_scope_process(7), "heap.bytes").integer, 77);
    assert_false(pt_metrics_has(&m, pt_scope_run(), "heap.bytes"));
    const struct pt_value missing = pt_metrics_get(&m, pt_scope_run(), "no.such");
    assert_int_equal(missing.type, PT_VALUE_UNKNOWN);
    assert_non_null(missing.reason);
    pt_metrics_free(&m);
}

static void what_is_not_a_number_is_unknown(void **state)
{
    (void)state;
    assert_int_equal(pt_real(NAN).type, PT_VALUE_UNKNOWN);
    assert_int_equal(pt_real(INFINITY).type, PT_VALUE_UNKNOWN);
    assert_int_equal(pt_real(1.5).type, PT_VALUE_REAL);
    assert_true(pt_integer(~0ull).integer == INT64_MAX);
}

static void tables_keep_rows(void **state)
{
    (void)state;
    struct pt_metrics m = {0};
    const struct pt_column columns[] = {{"path", "File", PT_SHOW_TEXT}, {"calls", "Calls", PT_SHOW_COUNT}};
    struct pt_table *table = pt_metrics_table(&m, pt_scope_stage(0), "io.files", "Files", columns, 2);
    for (pt_u32 i = 0; i < 100; i++) {
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_text(pt_metrics_format(&m, "/f%u", i));
        row[1] = pt_integer(i);
    }
    const struct pt_table *found = pt_metrics_find_table(&m, pt_scope_stage(0), "io.files");
    assert_ptr_equal(found, table);
    assert_null(pt_metrics_find_table(&m, pt_scope_stage(1), "io.files"));
    assert_string_equal(pt_table_row(found, 42)[0].text, "/f42");
    assert_int_equal(pt_table_row(found, 99)[1].integer, 99);
    pt_metrics_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_scope_and_name),
        cmocka_unit_test(what_is_not_a_number_is_unknown),
        cmocka_unit_test(tables_keep_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
