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

struct row {
    const char *path;
    pt_u64 calls;
    pt_u32 pid;
    double total_s;
    bool is_whole;
    struct pt_value p50_s;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct row, p50_s, SECONDS, "p50"), PT_COLUMN(struct row, path, TEXT, "File"),
    PT_COLUMN(struct row, calls, COUNT, "Calls"), PT_COLUMN(struct row, pid, NUMBER, "PID"),
    PT_COLUMN(struct row, is_whole, BOOL, NULL),  PT_COLUMN(struct row, total_s, SECONDS, "Time"),
};
static const struct pt_table_kind kind = {PT_VIEW_files, .most = 100, PT_COLUMNS(columns)};

static void tables_take_rows_from_structs(void **state)
{
    (void)state;
    struct pt_metrics m = {0};
    struct pt_rows rows = pt_rows(&m, pt_scope_stage(0), &kind);
    assert_null(pt_view_table(&m, 0, PT_VIEW_files));
    for (pt_u32 i = 0; i < 130; i++)
        pt_rows_add(&rows, &(struct row){
                               .path = pt_metrics_format(&m, "/f%u", i),
                               .calls = i,
                               .pid = 7,
                               .total_s = NAN,
                               .is_whole = true,
                               .p50_s = pt_unknown("none"),
                           });
    const struct pt_table *table = pt_view_table(&m, 0, PT_VIEW_files);
    assert_ptr_equal(table, rows.table);
    assert_ptr_equal(table, pt_metrics_find_table(&m, pt_scope_stage(0), "io.files"));
    assert_null(pt_view_table(&m, 1, PT_VIEW_files));
    assert_int_equal(table->n_rows, 100);
    assert_int_equal(table->rows_left_out, 30);
    assert_string_equal(pt_table_cell(table, 42, "path").text, "/f42");
    assert_int_equal(pt_table_cell(table, 99, "calls").integer, 99);
    assert_int_equal(pt_table_cell(table, 99, "pid").integer, 7);
    assert_int_equal(pt_table_cell(table, 0, "is_whole").type, PT_VALUE_BOOL);
    assert_int_equal(pt_table_cell(table, 0, "total_s").type, PT_VALUE_UNKNOWN);
    assert_string_equal(pt_table_cell(table, 0, "p50_s").reason, "none");
    assert_int_equal(pt_table_cell(table, 0, "no such").type, PT_VALUE_UNKNOWN);
    pt_metrics_free(&m);
}

static void a_column_can_be_left_out(void **state)
{
    (void)state;
    struct pt_metrics m = {0};
    struct pt_table *table = pt_metrics_add_table(&m, pt_scope_stage(0), &kind);
    pt_table_drop_column(table, "calls");
    pt_table_relabel(table, "pid", "Process");
    pt_table_add(table, &(struct row){.path = "/a", .calls = 1, .pid = 7, .total_s = 2});
    assert_int_equal(table->n_columns, 5);
    assert_int_equal(pt_table_column(table, "calls"), 5);
    assert_string_equal(table->columns[pt_table_column(table, "pid")].label, "Process");
    assert_int_equal(pt_table_cell(table, 0, "pid").integer, 7);
    assert_true(pt_value_number(pt_table_cell(table, 0, "total_s")) == 2);
    pt_metrics_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_found_by_scope_and_name),
        cmocka_unit_test(what_is_not_a_number_is_unknown),
        cmocka_unit_test(tables_take_rows_from_structs),
        cmocka_unit_test(a_column_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
