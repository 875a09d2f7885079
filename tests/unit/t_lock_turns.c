/* SPDX-License-Identifier: MIT
 *
 * What threads that take turns at a lock gain without it: their own waiting, not that of all of them together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

#include "analysis/waits/lock_turns.h"

#define MS 1000000

/* From turn to turn the next of four holds the lock for 2 ms, and the others wait. */
static void four_take_turns(struct pt_lock_turns *turns, const struct pt_thread *threads, pt_i64 from_ns)
{
    for (int turn = 0; turn < 40; turn++)
        for (int i = 0; i < 4; i++) {
            const pt_i64 start_ns = from_ns + turn * 2 * MS;
            if (i == turn % 4)
                continue;
            pt_lock_turns_waited(turns, &threads[i], start_ns, start_ns + 2 * MS);
            pt_lock_turns_held(turns, &threads[turn % 4], 2 * MS);
        }
}

static void each_has_its_own_work_to_do(void **state)
{
    (void)state;
    const struct pt_thread threads[4] = {{0}};
    struct pt_lock_turns turns = {0};
    four_take_turns(&turns, threads, 1000 * MS);
    assert_float_equal(pt_lock_turns_most_s(&turns), 0.060, 1e-9); /* of 80 ms, in which one of them waited always */
    pt_lock_turns_fini(&turns);
}

static void threads_that_came_later_waited_too(void **state)
{
    (void)state;
    const struct pt_thread threads[8] = {{0}};
    struct pt_lock_turns turns = {0};
    four_take_turns(&turns, threads, 1000 * MS);
    four_take_turns(&turns, threads + 4, 2000 * MS);
    assert_float_equal(pt_lock_turns_most_s(&turns), 0.120, 1e-9);
    pt_lock_turns_fini(&turns);
}

static void many_threads_are_told_apart(void **state)
{
    (void)state;
    const struct pt_thread threads[24] = {{0}};
    struct pt_lock_turns turns = {0};
    for (int again = 0; again < 2; again++)
        for (int group = 0; group < 6; group++)
            four_take_turns(&turns, threads + 4 * group, (1000 * group + 100 * again) * (pt_i64)MS);
    assert_int_equal(turns.n, 24);
    assert_float_equal(pt_lock_turns_most_s(&turns), 6 * 0.120, 1e-9);
    pt_lock_turns_fini(&turns);
}

/* A stage of two threads and one that writes everything to disk under their lock: they wait for its work. */
static void who_holds_it_without_waiting_is_no_peer(void **state)
{
    (void)state;
    const struct pt_thread threads[3] = {{0}};
    struct pt_lock_turns turns = {0};
    for (int i = 0; i < 2; i++) {
        pt_lock_turns_waited(&turns, &threads[i], i * 5 * MS, (i + 1) * 5 * MS);
        pt_lock_turns_held(&turns, &threads[2], 5 * MS);
    }
    assert_true(isinf(pt_lock_turns_most_s(&turns)));
    pt_lock_turns_held(&turns, NULL, 5 * MS); /* nobody knows */
    assert_true(isinf(pt_lock_turns_most_s(&turns)));
    pt_lock_turns_fini(&turns);
}

static void nobody_waited(void **state)
{
    (void)state;
    struct pt_lock_turns turns = {0};
    assert_true(isinf(pt_lock_turns_most_s(&turns)));
    pt_lock_turns_fini(&turns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own_work_to_do),
        cmocka_unit_test(threads_that_came_later_waited_too),
        cmocka_unit_test(many_threads_are_told_apart),
        cmocka_unit_test(who_holds_it_without_waiting_is_no_peer),
        cmocka_unit_test(nobody_waited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
