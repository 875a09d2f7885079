/* SPDX-License-Identifier: MIT
 *
 * A record is never written behind its buffer, even where a raw clone() that shares the thread's slot filled it after
 * its owner looked: preload/core/state.h. Behind it lie the counters of the next thread.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../../preload/core/state.h"

enum { ROOM = 4, BEHIND = 4 };

struct pt_switches pt_switches;
struct pt_tracer_thread pt_no_thread;
__thread struct pt_thread_local pt_local;

pt_u64 pt_clock_slow(void)
{
    return 0;
}

static struct pt_tracer_thread thread_of(struct pt_record *records)
{
    return (struct pt_tracer_thread){
        .records = {
            .base = (char *)records, .cursor = (char *)records, .end = (char *)(records + ROOM), .generation = 7}};
}

static void a_full_buffer_takes_no_record(void **state)
{
    (void)state;
    struct pt_record records[ROOM + BEHIND] = {0};
    struct pt_tracer_thread t = thread_of(records);
    for (pt_u32 i = 0; i < ROOM; i++)
        assert_true(pt_append_record(&t, 100 + i, 0, i, i, i));
    assert_false(pt_append_record(&t, 200, 0, 9, 9, 9));
    for (pt_u32 i = 0; i < ROOM; i++)
        assert_int_equal(records[i].tag_kind, i);
    for (pt_u32 i = ROOM; i < ROOM + BEHIND; i++)
        assert_int_equal(records[i].stamp, 0);
}

static void others_that_ran_past_the_end_leave_what_lies_behind_it(void **state)
{
    (void)state;
    struct pt_record records[ROOM + BEHIND] = {0};
    struct pt_tracer_thread t = thread_of(records);
    t.records.cursor = (char *)(records + ROOM + 2);
    assert_false(pt_append_record(&t, 100, 0, 9, 9, 9));
    for (pt_u32 i = 0; i < ROOM + BEHIND; i++)
        assert_int_equal(records[i].stamp, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_buffer_takes_no_record),
        cmocka_unit_test(others_that_ran_past_the_end_leave_what_lies_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
