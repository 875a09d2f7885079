/* SPDX-License-Identifier: MIT
 *
 * Which waits were for pages, and which intervals an account gets: records as the kernel sends them, and as they come
 * when some are lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "cpu_profile/intervals.h"

static struct pt_threads threads;

static struct pt_live_thread *thread_of(pt_u32 pid, pt_u32 tid)
{
    return pt_threads_add(&threads, pid, tid, 1, 0);
}

static void goes(struct pt_live_thread *thread, pt_u64 t_ns, bool is_preempted)
{
    pt_intervals_switch_out(thread, t_ns);
    pt_thread_switch_out(thread, t_ns, is_preempted);
}

static void comes(struct pt_live_thread *thread, pt_u64 t_ns)
{
    pt_intervals_switch_in(&threads.intervals, thread, t_ns);
    pt_threads_end_wait(&threads, thread, t_ns);
    pt_thread_switch_in(thread, t_ns);
}

static void faults(struct pt_live_thread *thread, pt_u64 t_ns)
{
    pt_intervals_fault(&threads.intervals, thread, t_ns);
}

static const struct pt_cpu_interval *nth(size_t n)
{
    assert_true(threads.intervals.n > n);
    return (const struct pt_cpu_interval *)threads.intervals.items.items + n;
}

static int begin(void **state)
{
    (void)state;
    threads = (struct pt_threads){0};
    return 0;
}

static int end(void **state)
{
    (void)state;
    pt_threads_fini(&threads);
    return 0;
}

static void a_fault_takes_the_wait_before_it(void **state)
{
    (void)state;
    struct pt_live_thread *thread = thread_of(5, 5);
    comes(thread, 1000);
    goes(thread, 2000, false);
    comes(thread, 102000);
    faults(thread, 105000);
    faults(thread, 106000); /* this one did not wait */
    assert_int_equal(threads.intervals.n, 1);
    assert_int_equal(nth(0)->t_ns, 2000);
    assert_int_equal(nth(0)->duration_ns, 100000);
    assert_int_equal(nth(0)->kind, PT_CPU_INTERVAL_FAULT);
    assert_int_equal(thread->faults.faults, 2);
    assert_int_equal(thread->faults.waits_ns, 100000);
}

/* Read ahead, or for another thread: it waits in no system call, and no major fault is reported. */
static void a_page_that_was_on_its_way_is_waited_for_too(void **state)
{
    (void)state;
    struct pt_live_thread *thread = thread_of(5, 5);
    comes(thread, 1000);
    goes(thread, 2000, false);
    thread->misses_page = true;
    comes(thread, 102000);
    assert_int_equal(threads.intervals.n, 1);
    assert_int_equal(nth(0)->duration_ns, 100000);
    assert_int_equal(nth(0)->kind, PT_CPU_INTERVAL_FAULT);
    assert_int_equal(thread->faults.faults, 0);
    assert_int_equal(thread->faults.waits_ns, 100000);
    goes(thread, 103000, false);
    comes(thread, 203000); /* another wait */
    assert_int_equal(threads.intervals.n, 1);
}

static void a_wait_counts_once(void **state)
{
    (void)state;
    struct pt_live_thread *thread = thread_of(5, 5);
    comes(thread, 1000);
    goes(thread, 2000, false);
    thread->misses_page = true;
    comes(thread, 102000);
    faults(thread, 103000);
    assert_int_equal(threads.intervals.n, 1);
    assert_int_equal(thread->faults.faults, 1);
    assert_int_equal(thread->faults.waits_ns, 100000);
}

static void who_has_computed_since_did_not_wait_for_the_page(void **state)
{
    (void)state;
    struct pt_live_thread *thread = thread_of(5, 5);
    comes(thread, 1000);
    goes(thread, 2000, false);
    comes(thread, 102000);
    faults(thread, 102000 + 1000000);
    assert_int_equal(threads.intervals.n, 0);
    assert_int_equal(thread->faults.waits_ns, 0);
}

static void being_preempted_on_the_way_is_not_computing(void **state)
{
    (void)state;
    struct pt_live_thread *thread = thread_of(5, 5);
    comes(thread, 1000);
    goes(thread, 2000, false);
    comes(thread, 102000);
    goes(thread, 103000, true);
    comes(thread, 9103000);
    faults(thread, 9104000);
    assert_int_equal(threads.intervals.n, 2);
    assert_int_equal(nth(0)->kind, PT_CPU_INTERVAL_PREEMPTED);
    assert_int_equal(nth(0)->duration_ns, 9000000);
    assert_int_equal(nth(1)->kind, PT_CPU_INTERVAL_FAULT);
    assert_int_equal(nth(1)->t_ns, 2000);
}

static void other_threads_leave_room_for_main_threads(void **state)
{
    (void)state;
    struct pt_live_thread *thread = thread_of(5, 6), *main_thread = thread_of(5, 5);
    comes(thread, 1000);
    goes(thread, 2000, false);
    comes(thread, 102000);
    faults(thread, 103000);
    assert_int_equal(threads.intervals.n, 1);
    threads.intervals.n = PT_CPU_INTERVALS_MAX / 2;
    goes(thread, 104000, true);
    comes(thread, 204000);
    assert_int_equal(threads.intervals.n, PT_CPU_INTERVALS_MAX / 2);
    comes(main_thread, 1000);
    goes(main_thread, 2000, true);
    comes(main_thread, 3000);
    assert_int_equal(threads.intervals.n, PT_CPU_INTERVALS_MAX / 2 + 1);
    assert_int_equal(thread->faults.waits_ns, 100000);
}

static void a_new_thread_was_not_preempted_since_the_beginning(void **state)
{
    (void)state;
    struct pt_live_thread *thread = thread_of(5, 5);
    thread->state = PT_THREAD_PREEMPTED; /* as fork leaves it */
    comes(thread, 1000000);
    faults(thread, 1001000);
    comes(thread, 5000000); /* that it left is lost */
    assert_int_equal(threads.intervals.n, 0);
    assert_int_equal(thread->faults.waits_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fault_takes_the_wait_before_it, begin, end),
        cmocka_unit_test_setup_teardown(a_page_that_was_on_its_way_is_waited_for_too, begin, end),
        cmocka_unit_test_setup_teardown(a_wait_counts_once, begin, end),
        cmocka_unit_test_setup_teardown(who_has_computed_since_did_not_wait_for_the_page, begin, end),
        cmocka_unit_test_setup_teardown(being_preempted_on_the_way_is_not_computing, begin, end),
        cmocka_unit_test_setup_teardown(other_threads_leave_room_for_main_threads, begin, end),
        cmocka_unit_test_setup_teardown(a_new_thread_was_not_preempted_since_the_beginning, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
