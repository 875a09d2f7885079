/* SPDX-License-Identifier: MIT
 *
 * t_beside_path.c - what workers and others do beside the critical path costs no more than the path waits; what the
 * path itself does costs all of it.
 */
#include "helper_story.h"

enum { WORKERS = 8, CALLS = 100 };

/* A child with the program's arguments is a worker; with others a command that nobody waits for. */
static void child(const struct story *story, int pid, const char *comm)
{
    fprintf(story->text,
            "process %d ppid=100 uid=1000 trace_id=0x%x parent_trace_id=0x64 start=0.500000000 end=9.500000000 "
            "state=exited exit_status=0 heap=off cpu_ns=1000000 max_rss_bytes=1048576 boot=\"b\" host=\"h\" "
            "stage=\"a\" comm=\"%s\" exe=\"/usr/bin/%s\" cwd=\"/data\" argc=1 argv=[\"%s\"]\n"
            "thread %d/%d slot=0 life=1 start=0.500000000\n",
            pid, (unsigned)pid, comm, comm, comm, pid, pid);
}

/* For four seconds: a quarter of the time small reads, a quarter each questions about files, and new ones. */
static void uses_files(const struct story *story, int pid, int tid)
{
    for (int i = 0; i < CALLS; i++) {
        const int ms = 1000 + 40 * i;
        fprintf(story->text, "%d.%03d000000 +0.010000000 %d/%d io_read fd=3 result=100 path=\"/data/%d\" %s\n",
                ms / 1000, ms % 1000, pid, tid, pid, "requested_bytes=100");
        fprintf(story->text, "%d.%03d000000 +0.010000000 %d/%d meta_access result=0 path=\"/data/a\"\n",
                (ms + 11) / 1000, (ms + 11) % 1000, pid, tid);
        fprintf(story->text, "%d.%03d000000 +0.010000000 %d/%d meta_unlink result=0 path=\"/data/b\"\n",
                (ms + 22) / 1000, (ms + 22) % 1000, pid, tid);
    }
}

static void waits(const struct story *story, int from_s, int ms)
{
    fprintf(story->text,
            "%d.000000000 +0.%03d000000 100/100 io_read fd=9 result=8 path=\"pipe:[9]\" requested_bytes=8\n", from_s,
            ms);
}

static void assert_costs(const struct story *story, double least_s, double most_s)
{
    static const char *const metrics[] = {"io.read_small.cost_s", "meta.cost_s", "meta.changes.cost_s"};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        assert_true(story_metric(story, 0, metrics[i]) >= least_s - 1e-6);
        assert_true(story_metric(story, 0, metrics[i]) <= most_s + 1e-6);
    }
}

static void workers_cost_what_is_waited_for_them(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    waits(&story, 2, 400);
    for (int i = 0; i < WORKERS; i++) {
        child(&story, 200 + i, "train");
        uses_files(&story, 200 + i, 200 + i);
    }
    fprintf(story.text, "2.390000000 +0.001000000 200/200 io_write fd=9 result=8 path=\"pipe:[9]\" "
                        "requested_bytes=8\n");
    story_analyze(&story);
    assert_costs(&story, 0.3, 0.4);
    story_end(&story);
}

static void others_cost_what_the_path_waits(void **state)
{
    (void)state;
    for (int waited_ms = 0; waited_ms <= 400; waited_ms += 400) {
        struct story story;
        story_begin(&story);
        story_process(&story, 100, "a");
        if (waited_ms)
            waits(&story, 2, waited_ms);
        child(&story, 200, "monitor");
        uses_files(&story, 200, 200);
        story_analyze(&story);
        assert_costs(&story, waited_ms / 1e3, waited_ms / 1e3);
        story_end(&story);
    }
}

static void another_thread_costs_what_the_main_one_waits(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    waits(&story, 2, 400);
    fprintf(story.text, "thread 100/101 slot=1 life=1 start=0.000000000\n");
    uses_files(&story, 100, 101);
    story_analyze(&story);
    assert_costs(&story, 0.4, 0.4);
    story_end(&story);
}

/* Also where workers do far more of it for which nobody waits. */
static void the_path_costs_all_of_its_own(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    uses_files(&story, 100, 100);
    for (int i = 0; i < WORKERS; i++) {
        child(&story, 200 + i, "monitor");
        uses_files(&story, 200 + i, 200 + i);
    }
    story_analyze(&story);
    assert_costs(&story, 1, 1);
    story_end(&story);
}

/* It was in a call when it was killed: nobody knows in which. */
static void who_was_killed_may_have_waited(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story);
    fprintf(story.text,
            "process 100 ppid=1 uid=1000 trace_id=0x64 start=0.000000000 end=10.000000000 state=live heap=off "
            "cpu_ns=1000000 max_rss_bytes=1048576 boot=\"b\" host=\"h\" stage=\"a\" comm=\"train\" "
            "exe=\"/usr/bin/train\" cwd=\"/data\" argc=1 argv=[\"train\"]\n"
            "thread 100/100 slot=0 life=1 start=0.000000000\n");
    child(&story, 200, "monitor");
    uses_files(&story, 200, 200);
    story_analyze(&story);
    assert_costs(&story, 1, 1);
    story_end(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_cost_what_is_waited_for_them),
        cmocka_unit_test(others_cost_what_the_path_waits),
        cmocka_unit_test(another_thread_costs_what_the_main_one_waits),
        cmocka_unit_test(the_path_costs_all_of_its_own),
        cmocka_unit_test(who_was_killed_may_have_waited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
