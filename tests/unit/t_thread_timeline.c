/* SPDX-License-Identifier: MIT
 *
 * What threads did lately: more threads than there are places, one after another and all at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "facts/thread_timeline.h"

#define MS 1000000ll

static struct pt_thread_timelines scene;

static void sleeps(pt_u32 thread, pt_i64 from_ms, pt_i64 until_ms)
{
    const struct pt_span span = {
        .start_ns = from_ms * MS, .end_ns = until_ms * MS, .part = PT_PART_sleep, .kind = PT_SPAN_CALL};
    pt_thread_timeline_add(&scene, thread, span);
}

static pt_i64 slept_ms(pt_u32 thread, pt_i64 from_ms, pt_i64 until_ms)
{
    return pt_thread_timeline_part_ns(&scene.threads[thread], PT_PART_sleep, from_ms * MS, until_ms * MS) / MS;
}

static int begin(void **state)
{
    (void)state;
    pt_thread_timelines_open(&scene, 3 * PT_TIMELINE_THREADS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    pt_thread_timelines_close(&scene);
    return 0;
}

static void note_forgotten(void *context, const struct pt_piece *piece)
{
    *(pt_i64 *)context += piece->is_forgotten ? piece->end_ns - piece->start_ns : 0;
}

static pt_i64 forgotten_ms(pt_u32 thread, pt_i64 from_ms, pt_i64 until_ms)
{
    pt_i64 ns = 0;
    pt_thread_timeline_split(&scene.threads[thread], from_ms * MS, until_ms * MS, note_forgotten, &ns);
    return ns / MS;
}

/* A script of short commands, and then a training: what it does is known. */
static void those_that_have_ended_make_room(void **state)
{
    (void)state;
    const pt_u32 last = 3 * PT_TIMELINE_THREADS - 1;
    for (pt_u32 i = 0; i <= last; i++)
        sleeps(i, 100 * i, 100 * i + 50);
    assert_int_equal(slept_ms(last, 100 * last, 100 * last + 100), 50);
    assert_int_equal(slept_ms(last - 500, 100 * (last - 500), 100 * (last - 500) + 100), 50);
    assert_int_equal(forgotten_ms(0, 0, 100), 50); /* and nobody says that it did nothing then */
    sleeps(0, 200000, 200010);                     /* it was silent only */
    assert_int_equal(slept_ms(0, 0, 200010), 10);
    assert_int_equal(forgotten_ms(0, 0, 100), 50);
}

/* All are busy: who comes later has no place until one of them is silent for a while. */
static void those_that_are_busy_keep_their_places(void **state)
{
    (void)state;
    const pt_u32 late = PT_TIMELINE_THREADS;
    for (pt_u32 i = 0; i < PT_TIMELINE_THREADS; i++)
        sleeps(i, i, i + 1);
    sleeps(late, 600, 700);
    assert_true(scene.threads[late].is_left_out);
    assert_int_equal(slept_ms(0, 0, 2), 1);
    for (pt_u32 i = 1; i < PT_TIMELINE_THREADS; i++)
        sleeps(i, 2000 + i, 2001 + i);
    sleeps(late, 3000, 3010);
    assert_false(scene.threads[late].is_left_out);
    assert_int_equal(slept_ms(late, 0, 3010), 10);
    assert_int_equal(forgotten_ms(late, 600, 700), 100);
    assert_int_equal(slept_ms(0, 0, 2), 0);
}

/* Spans that a gap of a GPU may need stay. */
static void those_that_are_held_keep_their_places(void **state)
{
    (void)state;
    scene.threads[0].is_held = true;
    scene.held_since_ns = -1;
    for (pt_u32 i = 0; i < 2 * PT_TIMELINE_THREADS; i++)
        sleeps(i, 2000 * i, 2000 * i + 50);
    assert_int_equal(slept_ms(0, 0, 100), 50);
    assert_int_equal(slept_ms(1, 2000, 2100), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(those_that_have_ended_make_room, begin, end),
        cmocka_unit_test_setup_teardown(those_that_are_busy_keep_their_places, begin, end),
        cmocka_unit_test_setup_teardown(those_that_are_held_keep_their_places, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
