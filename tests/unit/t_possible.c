/* SPDX-License-Identifier: MIT
 *
 * Nothing in a profile is above what is possible: a little too much is set to the bound, more is unknown; what is
 * possible stays as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/possible.h"

static struct pt_run_info run = {.cpus = 2};
static struct pt_profile profile = {.run = &run};

static struct pt_value held(const char *name, double number)
{
    pt_metrics_set(&profile.metrics, pt_scope_run(), name, pt_real(number));
    pt_profile_refuse_impossible(&profile);
    return pt_metrics_get(&profile.metrics, pt_scope_run(), name);
}

static void assert_held(const char *name, double number, double want)
{
    const struct pt_value value = held(name, number);
    assert_int_equal(value.type, PT_VALUE_REAL);
    assert_true(pt_value_number(value) == want);
}

static void assert_refused(const char *name, double number)
{
    const struct pt_value value = held(name, number);
    assert_int_equal(value.type, PT_VALUE_UNKNOWN);
    assert_non_null(value.reason);
}

static void shares_and_times_have_bounds(void **state)
{
    (void)state;
    assert_refused("cpu.avg_percent", 2002);
    assert_held("cpu.avg_percent", 201, 200);
    assert_held("cpu.avg_percent", 199, 199);
    assert_refused("helpers.cpu_percent", 314);
    assert_refused("heap.leak.share_percent", 104);
    assert_held("heap.leak.share_percent", 101, 100);
    assert_refused("resource.machine_cpu_percent.mean", 150);
    assert_held("gpu.collectives.imbalance_percent", 250, 250);
    assert_refused("time.lock_s", -1);
    assert_held("time.lock_s", -1e-9, 0);
    assert_held("heap.growth.bytes", -1000, -1000);
}

/* Against what it was, something may be three times as much, or nothing. */
static void a_change_is_no_share(void **state)
{
    (void)state;
    assert_held("operators.change_percent", 200, 200);
    assert_held("operators.change_percent", -40, -40);
    assert_held("operators.change_percent", -100, -100);
    assert_refused("operators.change_percent", -101);
}

struct row {
    double lived_s, cpu_s, lock_s;
    struct pt_value busy_percent;
};
static const struct pt_column columns[] = {
    PT_COLUMN(struct row, lived_s, SECONDS, "Lived"),
    PT_COLUMN(struct row, cpu_s, SECONDS, "CPU"),
    PT_COLUMN(struct row, lock_s, SECONDS, "Locks"),
    PT_COLUMN(struct row, busy_percent, PERCENT, "Busy"),
};
static const struct pt_table_kind kind = {PT_VIEW_worker_use, PT_COLUMNS(columns)};

static void a_row_is_within_its_life(void **state)
{
    (void)state;
    struct pt_table *table = pt_metrics_add_table(&profile.metrics, pt_scope_run(), &kind);
    pt_table_add(table, &(struct row){1, 1.9, 1.003, pt_real(99)});
    pt_table_add(table, &(struct row){1, 2.5, 1.5, pt_real(121)});
    pt_profile_refuse_impossible(&profile);
    assert_true(pt_value_number(pt_table_cell(table, 0, "cpu_s")) == 1.9);
    assert_true(pt_value_number(pt_table_cell(table, 0, "lock_s")) == 1);
    assert_true(pt_value_number(pt_table_cell(table, 0, "busy_percent")) == 99);
    assert_int_equal(pt_table_cell(table, 1, "cpu_s").type, PT_VALUE_UNKNOWN);
    assert_int_equal(pt_table_cell(table, 1, "lock_s").type, PT_VALUE_UNKNOWN);
    assert_int_equal(pt_table_cell(table, 1, "busy_percent").type, PT_VALUE_UNKNOWN);
}

static int end(void **state)
{
    (void)state;
    pt_metrics_free(&profile.metrics);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_and_times_have_bounds),
        cmocka_unit_test(a_change_is_no_share),
        cmocka_unit_test(a_row_is_within_its_life),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
