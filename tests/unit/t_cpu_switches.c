/* SPDX-License-Identifier: MIT
 *
 * What switches took is on the CPU by the kernel's count: times and intervals get it from there, and only of threads
 * of which nothing is missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cpu_file/switches.h"

/* Two waits of 100 us, one of them for a page, and one time preempted for 50 us; 300 us on the CPU. */
static struct pt_cpu_times times[2];
static struct pt_cpu_fault_sums faults[2];
static struct pt_cpu_wait_sums sums[2];
static struct pt_cpu_interval intervals[2];
static struct pt_cpu_data data;

static int begin(void **state)
{
    (void)state;
    times[1] = (struct pt_cpu_times){
        .thread = 1, .on_cpu_ns = 300000, .waiting_ns = 200000, .preempted_ns = 50000, .blocks = 2, .preemptions = 1};
    faults[1] = (struct pt_cpu_fault_sums){.thread = 1, .faults = 1, .waits_ns = 100000};
    sums[1] = (struct pt_cpu_wait_sums){.thread = 1};
    sums[1].blocked_ns[pt_cpu_wait_class(100000)] = 200000;
    intervals[0] = (struct pt_cpu_interval){1000, 100000, 1, PT_CPU_INTERVAL_FAULT};
    intervals[1] = (struct pt_cpu_interval){500000, 50000, 1, PT_CPU_INTERVAL_PREEMPTED};
    data = (struct pt_cpu_data){.times = times,
                                .fault_sums = faults,
                                .wait_sums = sums,
                                .intervals = intervals,
                                .n_threads = 2,
                                .n_intervals = 2};
    return 0;
}

static void add(pt_u64 on_cpu_ns)
{
    const struct pt_cpu_on_cpu on_cpu = {1, 0, on_cpu_ns};
    pt_cpu_switches_add(&data, &on_cpu, 1);
}

static void waits_are_shorter_by_what_switching_took(void **state)
{
    (void)state;
    add(330000); /* 10 us each */
    assert_int_equal(times[1].on_cpu_ns, 330000);
    assert_int_equal(times[1].waiting_ns, 180000);
    assert_int_equal(times[1].preempted_ns, 40000);
    assert_int_equal(faults[1].waits_ns, 90000);
    assert_int_equal(intervals[0].t_ns, 6000);
    assert_int_equal(intervals[0].duration_ns, 90000);
    assert_int_equal(intervals[1].duration_ns, 40000);
}

static void sums_have_a_shorter_wait_among_those_of_its_length(void **state)
{
    (void)state;
    intervals[0].duration_ns = 70000; /* of 64 to 128 us; then one of 32 to 64 us */
    add(330000);
    assert_int_equal(sums[1].blocked_ns[pt_cpu_wait_class(70000)], 130000);
    assert_int_equal(sums[1].blocked_ns[pt_cpu_wait_class(60000)], 60000);
}

static void what_is_no_switch_stays(void **state)
{
    (void)state;
    add(300000 + 60000000); /* it lived before the first record */
    assert_int_equal(times[1].on_cpu_ns, 300000 + 3 * 25000);
    begin(NULL);
    add(200000); /* the records have more */
    assert_int_equal(times[1].on_cpu_ns, 300000);
    assert_int_equal(intervals[0].duration_ns, 100000);
}

static void a_thread_with_lost_records_stays(void **state)
{
    (void)state;
    times[1].unknown_ns = 1;
    add(330000);
    assert_int_equal(times[1].on_cpu_ns, 300000);
    assert_int_equal(faults[1].waits_ns, 100000);
}

static void hostile_numbers_do_no_harm(void **state)
{
    (void)state;
    times[1].blocks = times[1].preemptions = ~0ull; /* their sum overflows */
    add(~0ull >> 2);
    intervals[0].duration_ns = 0;
    times[1].blocks = 0;
    times[1].preemptions = 1;
    add(~0ull >> 2);
    assert_true(times[1].waiting_ns <= 200000 && times[1].preempted_ns <= 50000);
    assert_int_equal(intervals[0].duration_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(waits_are_shorter_by_what_switching_took, begin),
        cmocka_unit_test_setup(sums_have_a_shorter_wait_among_those_of_its_length, begin),
        cmocka_unit_test_setup(what_is_no_switch_stays, begin),
        cmocka_unit_test_setup(a_thread_with_lost_records_stays, begin),
        cmocka_unit_test_setup(hostile_numbers_do_no_harm, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
