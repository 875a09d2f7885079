/* SPDX-License-Identifier: MIT
 *
 * t_wait_kind.c - which calls are waits for what they are about.
 */
#include "helper_story.h"

enum { CALLS = 200000 };

/* 200,000 calls of the C library for a line each: what of their time is no wait for a file. */
static double copied_to_s(const char *path, const char *call, int each_ns)
{
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    for (int i = 0; i < CALLS; i++)
        fprintf(story.text, "1.%09d +0.%09d 100/100 %s fd=4 bytes=5 path=\"%s\"\n", i * 1000, each_ns, call, path);
    story_analyze(&story);
    const double s = story_metric(&story, 0, "time.copied_write_s") + story_metric(&story, 0, "time.copied_read_s");
    story_end(&story);
    return s;
}

static double copied_s(const char *call, int each_ns)
{
    return copied_to_s("/data/out", call, each_ns);
}

/* That is part of data wait: a program that prints much had no word about the files that it writes. */
static void copies_for_a_pipe_are_no_file_time(void **state)
{
    (void)state;
    assert_float_equal(copied_to_s("pipe:[77]", "stdio_write", 26), 0, 1e-6);
}

static void short_calls_of_stdio_only_copy(void **state)
{
    (void)state;
    assert_float_equal(copied_s("stdio_write", 26), 26e-9 * CALLS, 1e-6);
    assert_float_equal(copied_s("stdio_read", 200), 200e-9 * CALLS, 1e-6);
}

static void long_ones_reach_the_kernel(void **state)
{
    (void)state;
    assert_float_equal(copied_s("stdio_write", 500), 0, 1e-6);
    assert_float_equal(copied_s("stdio_read", 500), 0, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_calls_of_stdio_only_copy),
        cmocka_unit_test(copies_for_a_pipe_are_no_file_time),
        cmocka_unit_test(long_ones_reach_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
