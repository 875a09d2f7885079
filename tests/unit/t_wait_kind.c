/* SPDX-License-Identifier: MIT
 *
 * t_wait_kind.c - which part of the time account a call belongs to.
 */
#include "helper_story.h"

enum { CALLS = 200000 };

/* 200,000 calls of the C library that write a line. */
static double written_s(const char *call, int each_ns)
{
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    for (int i = 0; i < CALLS; i++)
        fprintf(story.text, "1.%09d +0.%09d 100/100 %s fd=4 bytes=5 path=\"/data/out\"\n", i * 1000, each_ns, call);
    story_analyze(&story);
    const double s = story_metric(&story, 0, "time.file_write_s") + story_metric(&story, 0, "time.file_read_s");
    story_end(&story);
    return s;
}

/* sed's four million writes of 25 ns were a sixth of its time, and most of that was the reading of our clock. */
static void copies_into_a_buffer_are_no_file_time(void **state)
{
    (void)state;
    assert_float_equal(written_s("stdio_write", 26), 0, 1e-6);
    assert_float_equal(written_s("stdio_read", 99), 0, 1e-6);
}

static void calls_that_reach_the_kernel_are(void **state)
{
    (void)state;
    assert_float_equal(written_s("stdio_write", 500), 500e-9 * CALLS, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_into_a_buffer_are_no_file_time),
        cmocka_unit_test(calls_that_reach_the_kernel_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
