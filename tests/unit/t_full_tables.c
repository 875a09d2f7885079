/* SPDX-License-Identifier: MIT
 *
 * t_full_tables.c - runs with more files or stages than tables tell apart: what is put together is never taken for one
 * of them, and what is told apart stays so.
 */
#include "helper_story.h"

#include "model/threads.h"

/* The files beyond the limit share a row: one of them that is synced says nothing about the others. */
static void sync_after_many_files(const char *call)
{
    enum { FILES = 20001 };
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    for (int i = 0; i < FILES; i++)
        fprintf(story.text, "0.%09d +0.000000010 100/100 %s fd=4 result=0 path=\"/data/%d\"\n", 1000 + i * 100, call,
                i);
    story_process(&story, 200, "b");
    fprintf(story.text, "1.000000000 +0.500000000 200/200 io_sync fd=4 result=0 path=\"/data/log\"\n"
                        "2.000000000 +3.000000000 200/200 io_write fd=5 result=4096 path=\"pipe:[1]\"\n"
                        "6.000000000 +2.000000000 200/200 io_write fd=6 result=4096 path=\"/data/other\"\n");
    story_analyze(&story);
    const pt_u32 stage = story_stage(&story, "b");
    assert_float_equal(story_metric(&story, stage, "storage.sync.total_s"), 0.5, 1e-6);
    assert_float_equal(story_metric(&story, stage, "storage.sync.cost_s"), 0.5, 1e-6);
    story_end(&story);
}

static void sync_after_many_written_files(void **state)
{
    (void)state;
    sync_after_many_files("io_write");
}

static void sync_after_many_synced_files(void **state)
{
    (void)state;
    sync_after_many_files("io_sync");
}

/* A file that was written before it is synced, and after: the latter waits with it. */
static void writes_to_a_synced_file_wait_with_it(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    fprintf(story.text, "1.000000000 +3.000000000 100/100 io_write fd=4 result=4096 path=\"/data/log\"\n"
                        "5.000000000 +0.500000000 100/100 io_sync fd=4 result=0 path=\"/data/log\"\n"
                        "6.000000000 +2.000000000 100/100 io_write fd=4 result=4096 path=\"/data/log\"\n");
    story_analyze(&story);
    assert_float_equal(story_metric(&story, 0, "storage.sync.cost_s"), 2.5, 1e-6);
    story_end(&story);
}

/* A thread that syncs for seven seconds beside thirty syncs of the main thread, and ends last: only what the others do
 * not wait for anyway is not to be saved. */
static void a_long_last_sync_hides_none_beside_it(void **state)
{
    (void)state;
    struct story story;
    story_begin(&story);
    story_process(&story, 100, "a");
    fprintf(story.text, "thread 100/101 slot=1 life=1 start=0.000000000\n");
    for (int i = 0; i < 30; i++)
        fprintf(story.text, "%d.%09d +0.060000000 100/100 io_sync fd=4 result=0 path=\"/data/log\"\n", 1 + i / 10,
                i % 10 * 100000000);
    fprintf(story.text, "1.000000000 +7.000000000 100/101 io_sync fd=5 result=0 path=\"/data/model\"\n");
    story_analyze(&story);
    assert_float_equal(story_metric(&story, 0, "storage.sync.avoidable_s"), 1.8, 1e-6);
    story_end(&story);
}

/* Stages are as many as the user named. */
static void each_stage_has_its_own_imports(void **state)
{
    (void)state;
    enum { STAGES = 1100 }; /* more than the names of phases that are told apart */
    struct story story;
    story_begin(&story);
    for (int i = 0; i < STAGES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        story_process(&story, 100 + i, name);
        for (int again = 0; again < 2; again++)
            fprintf(story.text,
                    "%d.%09d %d/%d phase_begin name=\"torch\" phase=import object=0x0\n"
                    "%d.%09d %d/%d phase_end outcome=0\n",
                    1 + 4 * again, i, 100 + i, 100 + i, 2 + 4 * again, i, 100 + i, 100 + i);
    }
    story_analyze(&story);
    for (int i = 0; i < STAGES; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        const struct pt_table *rows =
            pt_view_rows(&story.profile.metrics, story_stage(&story, name), PT_VIEW_phases_by_name);
        assert_non_null(rows);
        assert_int_equal(rows->n_rows, 1);
        assert_string_equal(pt_table_cell(rows, 0, "name").text, i < 1024 ? "torch" : "(others)");
        assert_float_equal(pt_value_number(pt_table_cell(rows, 0, "calls")), 2, 0);
    }
    story_end(&story);
}

/* Beyond the limit of threads, too, what a slot's thread did is not another slot's. */
static void each_slot_has_a_thread(void **state)
{
    (void)state;
    enum { LIVES = 17000, OTHERS = 20 };
    struct pt_trace_writer *writer = helper_writer();
    for (pt_u32 life = 1; life <= LIVES; life++) {
        const struct pt_def_thread_end end = {.slot = 0, .life = life, .tid = 1000 + life, .last_ticks = life};
        pt_writer_define(writer, PT_DEF_THREAD_END, 0, life, &end, sizeof end);
    }
    for (pt_u32 slot = 0; slot <= OTHERS; slot++) {
        const struct pt_record record = helper_record(&pt_event_descs[PT_KIND_io_sync], LIVES + 100 + slot, 1);
        pt_writer_record(writer, slot, slot ? 3 : LIVES + 1, 50000 + slot, &record);
    }
    struct pt_session *session = helper_session(writer);
    struct pt_process *process = session->processes[0];
    for (pt_u32 slot = 0; slot <= OTHERS; slot++) {
        const struct pt_thread *thread = pt_process_thread(process, slot, slot ? 3 : LIVES + 1);
        assert_int_equal(thread->slot, slot);
        assert_int_equal(thread->tid, 50000 + slot);
    }
    assert_int_equal(pt_process_thread(process, 0, LIVES)->slot, 0);
    assert_int_equal(pt_process_thread(process, 1, 5)->slot, 1);
    pt_session_close(session);
    pt_trace_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync_after_many_written_files),        cmocka_unit_test(sync_after_many_synced_files),
        cmocka_unit_test(writes_to_a_synced_file_wait_with_it), cmocka_unit_test(a_long_last_sync_hides_none_beside_it),
        cmocka_unit_test(each_stage_has_its_own_imports),       cmocka_unit_test(each_slot_has_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
