/* SPDX-License-Identifier: MIT
 *
 * t_longest_wait.c - of processes that wait side by side, each for its own workers, the one that waits longest: how
 * long all of them waited together says nothing of one.
 */
#include "helper_story.h"

static void worker(const struct story *story, int pid, int parent)
{
    fprintf(story->text,
            "process %d ppid=%d uid=1000 trace_id=0x%x parent_trace_id=0x%x start=0.500000000 end=9.500000000 "
            "state=exited exit_status=0 heap=off cpu_ns=1000000 max_rss_bytes=1048576 boot=\"b\" host=\"h\" "
            "stage=\"a\" comm=\"train\" exe=\"/usr/bin/train\" cwd=\"/data\" argc=1 argv=[\"train\"]\n"
            "thread %d/%d slot=0 life=1 start=0.500000000\n",
            pid, parent, (unsigned)pid, (unsigned)parent, pid, pid);
}

/* `n` batches, for each of which it waits `wait_ms` of each second. */
static void waits(const struct story *story, int pid, int from_s, int n, int wait_ms)
{
    for (int s = from_s; s < from_s + n; s++)
        fprintf(story->text,
                "%d.%03d000000 +0.000001000 %d/%d io_write fd=8 result=400 path=\"pipe:[%d]\" requested_bytes=400\n"
                "%d.000000000 +0.%03d001000 %d/%d io_read fd=5 result=400 path=\"pipe:[%d]\" requested_bytes=400\n",
                s, wait_ms, pid + 1, pid + 1, pid, s, wait_ms, pid, pid, pid);
}

static void assert_near(const struct story *story, const char *metric, double expected)
{
    const double is = story_metric(story, story_stage(story, "a"), metric);
    if (is < expected - 0.01 || is > expected + 0.01)
        fail_msg("%s: %g instead of %g", metric, is, expected);
}

static void the_waits_of_one_process_are_its_own(void **state)
{
    struct story story;
    (void)state;
    story_begin(&story);
    story_process(&story, 100, "a");
    worker(&story, 101, 100);
    story_process(&story, 400, "a");
    worker(&story, 401, 400);
    waits(&story, 100, 1, 8, 500);
    waits(&story, 400, 1, 4, 800); /* beside the other one's */
    story_analyze(&story);
    assert_near(&story, "helpers.wait_s", 4 * 0.8 + 4 * 0.5);
    assert_near(&story, "helpers.of_one_process.wait_s", 8 * 0.5);
    assert_near(&story, "helpers.of_one_process.lived_s", 10);
    story_end(&story);
}

/* As four processes that call a model, one for each GPU, and the program that started them and joins them; it may ask
 * each for what came of it. */
static void who_starts_processes_that_load_is_none(void **state)
{
    (void)state;
    for (int asks = 0; asks < 2; asks++) {
        struct story story;
        story_begin(&story);
        story_process(&story, 50, "a");
        worker(&story, 100, 50);
        worker(&story, 400, 50);
        worker(&story, 101, 100);
        worker(&story, 102, 100);
        worker(&story, 401, 400);
        worker(&story, 402, 400);
        waits(&story, 100, 1, 8, 500);
        waits(&story, 400, 1, 4, 800);
        if (asks)
            fprintf(story.text, "9.100000000 +0.000001000 100/100 io_write fd=9 result=4 path=\"pipe:[9]\" "
                                "requested_bytes=4\n"
                                "0.600000000 +8.501000000 50/50 io_read fd=9 result=4 path=\"pipe:[9]\" "
                                "requested_bytes=4\n");
        fprintf(story.text,
                "%s 50/50 wait_child id_type=-1 result=100 asked_pid=100 status=0x0 options=0x0\n"
                "9.500000000 +0.010000000 50/50 wait_child id_type=-1 result=400 asked_pid=400 status=0x0 "
                "options=0x0\n",
                asks ? "9.200000000 +0.300000000" : "0.600000000 +8.900000000");
        story_analyze(&story);
        assert_near(&story, "helpers.of_one_process.wait_s", 8 * 0.5);
        assert_near(&story, "helpers.of_one_process.lived_s", 9);
        assert_near(&story, "helpers.workers.count", 6);
        assert_near(&story, "helpers.workers.at_once", 4);
        assert_near(&story, "helpers.workers.of_one_process", 2);
        assert_near(&story, "helpers.kept_percent", 100);
        story_end(&story);
    }
}

/* A worker runs a command that is not there: its forked child says so by a pipe, and is no worker of a loader. */
static void a_command_that_is_missing_is_no_result(void **state)
{
    struct story story;
    (void)state;
    story_begin(&story);
    story_process(&story, 100, "a");
    worker(&story, 101, 100);
    worker(&story, 102, 101);
    fprintf(story.text,
            "0.700000000 +0.000001000 102/102 io_write fd=9 result=20 path=\"pipe:[9]\" requested_bytes=20\n"
            "0.600000000 +0.100002000 101/101 io_read fd=9 result=20 path=\"pipe:[9]\" "
            "requested_bytes=50000\n"
            "0.700004000 +0.000100000 101/101 io_read fd=9 result=0 path=\"pipe:[9]\" "
            "requested_bytes=50000\n");
    waits(&story, 100, 1, 8, 500);
    story_analyze(&story);
    assert_near(&story, "helpers.of_one_process.wait_s", 8 * 0.5);
    assert_near(&story, "helpers.of_one_process.lived_s", 10);
    assert_near(&story, "helpers.workers.of_one_process", 1);
    story_end(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_waits_of_one_process_are_its_own),
                                       cmocka_unit_test(a_command_that_is_missing_is_no_result),
                                       cmocka_unit_test(who_starts_processes_that_load_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
