/* SPDX-License-Identifier: MIT
 *
 * t_worker_faults.c - a worker's waits for pages: those that libc had while it copied in a recorded read are time in
 * files already.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/analysis.h"
#include "cpu_file/write.h"
#include "helper_files.h"
#include "model/text/read.h"
#include "run_file/read.h"

#define PROCESS                                                                                                        \
    " uid=1000 end=4.000000000 state=exited exit_status=0 cpu_ns=100000000 boot=\"b\" host=\"h1\" stage=\"train\" "    \
    "comm=\"python3\" exe=\"/usr/bin/python3\" cwd=\"/data\" argc=1 argv=[\"train.py\"]\n"

/* A worker of 4 s that is in fread for one of them. */
static char story[] =
    "proftrace-text 1 start_realtime_ns=1705320000000000000\n"
    "process 100 ppid=1 trace_id=0x64 start=0.000000000" PROCESS "thread 100/100 slot=0 life=1 start=0.000000000\n"
    "process 200 ppid=100 trace_id=0xc8 parent_trace_id=0x64 start=0.000000000" PROCESS
    "thread 200/200 slot=0 life=1 start=0.000000000\n"
    "1.000000000 +1.000000000 200/200 stdio_read fd=3 bytes=65536 path=\"/data/0.npy\"\n";

static const char launcher[] = "{\"schema_version\": \"1.0\", \"start_realtime_ns\": 1705320000000000000, "
                               "\"duration_ns\": 4000000000, \"stages\": [{\"stage\": \"train\", \"status\": \"ok\", "
                               "\"command\": [\"train.py\"], \"start_ns\": 0, \"duration_ns\": 4000000000}]}";

/* Three waits for pages: within the read, behind it, and 0.4 s of others that were not kept one by one. */
static void write_profile(pt_u64 begin_monotonic_ns)
{
    static const struct pt_cpu_thread threads[] = {{.number = 1, .pid = 100, .tid = 100},
                                                   {.number = 2, .pid = 200, .tid = 200}};
    static const struct pt_cpu_interval waits[] = {{1200000000, 200000000, 2, PT_CPU_INTERVAL_FAULT},
                                                   {2500000000, 400000000, 2, PT_CPU_INTERVAL_FAULT}};
    static const struct pt_cpu_fault_sums sums = {.thread = 2, .faults = 3, .waits_ns = 1000000000};
    const struct pt_cpu_header header = {.magic = PT_CPU_MAGIC,
                                         .version = PT_CPU_VERSION,
                                         .header_bytes = sizeof header,
                                         .begin_monotonic_ns = begin_monotonic_ns,
                                         .begin_realtime_ns = 1705320000000000000,
                                         .period_ns = 10000000,
                                         .flags = PT_CPU_SAMPLED | PT_CPU_INTERVALS | PT_CPU_FAULTS,
                                         .root_pid = 100};
    struct pt_profile_file file;
    struct pt_error err = {0};
    const int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(pt_profile_file_open(&file, fd, 0, &header, &err), 0);
    close(fd);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_THREADS, threads, sizeof threads);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_INTERVALS, waits, sizeof waits);
    pt_profile_file_chunk(&file, PT_CPU_CHUNK_FAULT_SUMS, &sums, sizeof sums);
    pt_profile_file_close(&file);
}

static void waits_within_a_read_count_once(void **state)
{
    (void)state;
    struct pt_error err = {0};
    struct pt_run_info *run;
    FILE *in = fmemopen(story, strlen(story), "r");
    if (pt_session_read_text(in, "story", ".", &err) < 0)
        fail_msg("%s", err.text);
    fclose(in);
    write_text("run.json", launcher);
    assert_int_equal(pt_run_info_read(".", &run, &err), 0);
    struct pt_session *session = pt_session_open(".", &err);
    assert_non_null(session);
    write_profile(session->processes[0]->start_monotonic_ns);
    struct pt_profile profile = {.session = session, .run = run};
    assert_int_equal(pt_analyze(&profile, &err), 0);
    const struct pt_metrics *metrics = &profile.metrics;
    const struct pt_scope scope = pt_scope_stage(0);
    assert_true(pt_value_number(pt_metrics_get(metrics, scope, "helpers.workers.count")) == 1);
    assert_true(pt_value_number(pt_metrics_get(metrics, scope, "helpers.file_percent")) == 25);
    assert_true(pt_value_number(pt_metrics_get(metrics, scope, "helpers.fault_percent")) == 20);
    pt_profile_free(&profile);
    pt_session_close(session);
    pt_run_info_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_within_a_read_count_once)};
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
