/* SPDX-License-Identifier: MIT
 *
 * Waits without a stack and the calls that they may have been: of the same thread and length, never more time than both
 * lasted, and a call is not counted again with what contains it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "facts/off_cpu.h"

#define MS 1000000ull

enum { THREADS = 3, UNSEEN = 1, SEEN = 2 };

static struct pt_cpu_wait_sums sums[THREADS];
/* Of the second thread a stack of such a wait is there. */
static struct pt_cpu_wait wait = {.thread = SEEN, .duration_ns = 40 * MS};
static struct pt_cpu_data data = {
    .header.flags = PT_CPU_WAITS, .wait_sums = sums, .waits = &wait, .n_waits = 1, .n_threads = THREADS};

static struct pt_off_calls opened(pt_u64 blocked_ns)
{
    struct pt_off_calls calls;
    for (int i = 1; i < THREADS; i++)
        sums[i].blocked_ns[pt_cpu_wait_class(40 * MS)] = blocked_ns;
    pt_off_calls_open(&calls, &data);
    return calls;
}

static void call(struct pt_off_calls *calls, pt_u32 thread, enum pt_time_part part, pt_u64 start_ns, pt_u64 ns)
{
    pt_off_calls_call(calls, thread, (pt_i64)start_ns, (pt_i64)(start_ns + ns), part);
}

static void check(struct pt_off_calls *calls, pt_u64 blocked_ns, double sleep_s, double child_s, double unknown_s)
{
    double parts_s[PT_PART__COUNT] = {0};
    pt_off_calls_split(calls, UNSEEN, pt_cpu_wait_class(40 * MS), blocked_ns, parts_s);
    assert_float_equal(parts_s[PT_PART_sleep], sleep_s, 1e-9);
    assert_float_equal(parts_s[PT_PART_child_wait], child_s, 1e-9);
    assert_float_equal(parts_s[PT_PART_unattributed], unknown_s, 1e-9);
    pt_off_calls_close(calls);
}

static void calls_of_that_length_share_the_time(void **state)
{
    (void)state;
    struct pt_off_calls calls = opened(80 * MS);
    call(&calls, UNSEEN, PT_PART_sleep, 0, 40 * MS);
    call(&calls, UNSEEN, PT_PART_sleep, 50 * MS, 40 * MS);
    call(&calls, UNSEEN, PT_PART_child_wait, 100 * MS, 80 * MS); /* another class */
    call(&calls, UNSEEN, PT_PART_child_wait, 200 * MS, 40 * MS);
    call(&calls, UNSEEN, PT_PART_child_wait, 300 * MS, 40 * MS);
    check(&calls, 80 * MS, .04, .04, 0);
}

static void what_no_call_lasted_for_is_unknown(void **state)
{
    (void)state;
    struct pt_off_calls calls = opened(100 * MS);
    call(&calls, UNSEEN, PT_PART_sleep, 10 * MS, 40 * MS);
    call(&calls, UNSEEN, PT_PART_child_wait, 10 * MS, 41 * MS); /* contains it */
    call(&calls, UNSEEN, PT_PART_child_wait, 5 * MS, 50 * MS);
    call(&calls, SEEN, PT_PART_sleep, 0, 40 * MS);
    call(&calls, 0, PT_PART_sleep, 0, 40 * MS);
    call(&calls, THREADS, PT_PART_sleep, 0, 40 * MS);
    assert_int_equal(calls.ns.n, 1);
    check(&calls, 100 * MS, .04, 0, .06);
}

static void without_stacks_of_waits_nothing_is_asked_for(void **state)
{
    (void)state;
    struct pt_off_calls calls;
    struct pt_cpu_data none = data;
    none.header.flags = 0;
    pt_off_calls_open(&calls, &none);
    call(&calls, UNSEEN, PT_PART_sleep, 0, 40 * MS);
    check(&calls, 100 * MS, 0, 0, .1);
    pt_off_calls_open(&calls, NULL);
    call(&calls, UNSEEN, PT_PART_sleep, 0, 40 * MS);
    pt_off_calls_close(&calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_that_length_share_the_time),
        cmocka_unit_test(what_no_call_lasted_for_is_unknown),
        cmocka_unit_test(without_stacks_of_waits_nothing_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
