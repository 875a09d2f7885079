/* SPDX-License-Identifier: MIT
 *
 * Rules: each row is sound, gains never exceed the wall time, small gains are hidden, the largest comes first, and a
 * run without any trace says why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/general.h"
#include "rules/rule.h"
#include "helper_judged.h"

static void rows_are_sound(void **state)
{
    (void)state;
    for (const struct pt_rule *rule = pt_rules; rule->id; rule++) {
        assert_true(strlen(rule->title) > 10 && strlen(rule->advice) > 20);
        if (rule->custom)
            continue;
        assert_true(!*rule->table || strchr(rule->table, '/'));
        assert_non_null(strchr(rule->evidence, ':'));
        const size_t n = strlen(rule->cost);
        assert_string_equal(rule->cost + n - 2, "_s");
    }
}

static void a_gain_never_exceeds_the_wall_time(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "io.read_small.calls", 1e6);
    judged_set(w, "io.read_small.cost_s", 35);
    pt_judge(&w->profile, &w->findings);
    const struct pt_finding *finding = judged_find(w, "small_reads");
    assert_non_null(finding);
    assert_true(finding->gain_upper_s == 10 && finding->gain_upper_percent == 100);
    judged_free(w);
}

static void small_gains_are_hidden(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(100);
    judged_set(w, "io.read_small.calls", 1e6);
    judged_set(w, "io.read_small.cost_s", 0.9); /* below 1 % */
    pt_judge(&w->profile, &w->findings);
    assert_int_equal(w->findings.n, 0);
    judged_free(w);
    w = judged_new(1);
    judged_set(w, "io.read_small.calls", 1e6);
    judged_set(w, "io.read_small.cost_s", 0.08); /* below a tenth of a second */
    pt_judge(&w->profile, &w->findings);
    assert_int_equal(w->findings.n, 0);
    judged_free(w);
}

static void the_largest_gain_comes_first(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(100);
    judged_set(w, "io.read_small.calls", 1e6);
    judged_set(w, "io.read_small.cost_s", 5);
    judged_set(w, "meta.calls", 1e6);
    judged_set(w, "meta.cost_s", 20);
    judged_set(w, "capture.lost.events", 3);
    judged_set(w, "capture.events", 7);
    pt_judge(&w->profile, &w->findings);
    assert_int_equal(w->findings.n, 3);
    assert_string_equal(w->findings.items[0].rule, "metadata_storm");
    assert_string_equal(w->findings.items[1].rule, "small_reads");
    assert_string_equal(w->findings.items[2].rule, "events_lost");
    judged_free(w);
}

/* What says only that disks are waited for stands below what says for which files, where that explains most of it. */
static void the_specific_stands_above_the_general(void **state)
{
    (void)state;
    const struct {
        double metadata_s;
        const char *first;
    } cases[] = {{3, "metadata_storm"}, {2.1, "metadata_storm"}, {1.9, "io_pressure"}, {9, "metadata_storm"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(20);
        judged_set(w, "resource.io_pressure_percent.mean", 40);
        judged_set(w, "pressure.io.cost_s", 4);
        judged_set(w, "meta.calls", 1e6);
        judged_set(w, "meta.cost_s", cases[i].metadata_s);
        judged_set(w, "sleep.long.cost_s", 3.5); /* other seconds: in its place by cost */
        judged_set(w, "cpu.used_percent", 99);   /* not in seconds: below all */
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *general = judged_find(w, "io_pressure"), *specific = judged_find(w, "metadata_storm");
        const size_t n = general ? 4 : 3;
        assert_int_equal(w->findings.n, n);
        assert_int_equal(!general, cases[i].metadata_s >= 4); /* one fact is one finding */
        assert_string_equal(w->findings.items[0].rule, i == 0 || i == 1 ? "long_sleeps" : cases[i].first);
        assert_int_equal(!general || specific < general, !strcmp(cases[i].first, "metadata_storm"));
        assert_string_equal(w->findings.items[n - 1].rule, "cpu_saturated");
        assert_true(w->findings.items[n - 1].is_observation && !w->findings.items[0].is_observation);
        judged_free(w);
    }
}

/* A loader that starts its workers for each epoch. */
static void workers_of_each_epoch_are_one_finding(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(20);
    judged_set(w, "training.late_starts_percent", 20);
    judged_set(w, "training.restarts.cost_s", 4);
    judged_set(w, "training.workers.count", 2);
    judged_set(w, "helpers.again.start_s", 3.5);
    judged_set(w, "helpers.again.end_s", 0.3);
    judged_set(w, "helpers.again.pools.count", 9);
    pt_judge(&w->profile, &w->findings);
    assert_non_null(judged_find(w, "slow_first_batches"));
    assert_null(judged_find(w, "pools_made_again"));
    judged_free(w);
}

static void an_empty_capture_is_a_finding(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(1);
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "capture.total", pt_integer(0));
    pt_judge(&w->profile, &w->findings);
    assert_int_equal(w->findings.n, 1);
    assert_string_equal(w->findings.items[0].rule, "nothing_captured");
    judged_free(w);
}

static void a_run_without_processes_says_why(void **state)
{
    (void)state;
    struct pt_session session = {0};
    struct pt_run_untraced untraced = {NULL, "/bin/static", "statically linked"};
    struct pt_run_info run = {.untraced = &untraced, .n_untraced = 1, .duration_ns = 5e9};
    struct pt_profile profile = {.session = &session, .run = &run};
    struct pt_findings findings = {0};
    pt_judge(&profile, &findings);
    assert_int_equal(findings.n, 1);
    assert_string_equal(findings.items[0].rule, "nothing_captured");
    assert_string_equal(findings.items[0].evidence[0].value.text, "statically linked");
    pt_findings_free(&findings);
    pt_profile_free(&profile);
}

static void growth_must_be_large_and_steady(void **state)
{
    (void)state;
    const double cases[][4] = {{64e6, 10, 80, 1}, {64e6, 0.2, 80, 0}, {8e6, 10, 80, 0}, {64e6, 10, 5, 0}};
    for (int i = 0; i < 4; i++) {
        struct judged_stage *w = judged_new(30);
        judged_set(w, "heap.leak.bytes", cases[i][0]);
        judged_set(w, "heap.leak.length_s", cases[i][1]);
        judged_set(w, "heap.leak.share_percent", cases[i][2]);
        pt_judge(&w->profile, &w->findings);
        assert_int_equal(judged_find(w, "heap_growth") != NULL, cases[i][3]);
        judged_free(w);
    }
}

/* Pressure knows of the kernel's work for pages: the larger of the two counts, beside the waits. */
static void swapping_costs_the_kernels_work_too(void **state)
{
    (void)state;
    const double cases[][2] = {{NAN, 3}, {1, 3}, {4, 1 + 4 + 0.8}};
    for (int i = 0; i < 3; i++) {
        struct judged_stage *w = judged_new(30);
        judged_set(w, "faults.major.calls", 5000);
        judged_set(w, "resource.memory_pressure_percent.mean", 40);
        judged_set(w, "pressure.memory.cost_s", 2);
        judged_set(w, "time.page_fault_s", 1);
        judged_set(w, "time.runnable_s", 1);
        judged_set(w, "cpu.main_on_s", 5);
        if (!isnan(cases[i][0]))
            judged_set(w, "cpu.main_fault_s", cases[i][0]);
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = judged_find(w, "swapping");
        assert_non_null(finding);
        assert_true(fabs(finding->gain_upper_s - 1.1 * cases[i][1]) < 1e-9);
        judged_free(w);
    }
}

static void add_python(struct judged_stage *w, const struct pt_stack_frame *frames, pt_u32 n, double s)
{
    struct pt_stack *stack = pt_stacks_add(&w->profile.stacks, 0, frames, n);
    stack->part = PT_STACK_ANY_PART;
    stack->cost[PT_STACK_TRAINING_S] = stack->cost[PT_STACK_TRAINING_OWN_S] = s;
}

/* Of a generator that is resumed the callers are not always known: whom alone it works for has its time, too. */
static void a_librarys_generator_is_of_its_only_caller(void **state)
{
    (void)state;
    const pt_u32 of_library = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES;
    const struct pt_stack_frame log = {.function = "log", .file = "/a/t.py", .flags = PT_FRAME_OF_PYTHON},
                                other = {.function = "other", .file = "/a/t.py", .flags = PT_FRAME_OF_PYTHON},
                                main = {.function = "main", .file = "/a/t.py", .flags = PT_FRAME_OF_PYTHON};
    struct pt_stack_frame encode = {.function = "encode", .file = "/usr/lib/python3.11/json/encoder.py"};
    for (int calls_too = 0; calls_too < 2; calls_too++) {
        struct judged_stage *w = judged_new(20);
        judged_set(w, "training.window_s", 10);
        encode.flags = of_library;
        add_python(w, (const struct pt_stack_frame[]){encode, log, main}, 3, 2);
        add_python(w, (const struct pt_stack_frame[]){calls_too ? encode : other, other, main}, 3, 0.1);
        encode.flags = PT_FRAME_OF_PYTHON; /* of a stack that has no other */
        add_python(w, &encode, 1, 1);
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = judged_find(w, "python_in_training");
        assert_non_null(finding);
        assert_true(fabs(finding->gain_upper_s - 1.1 * (calls_too ? 2 : 3)) < 1e-9);
        judged_free(w);
    }
}

static const struct pt_finding *only(const struct judged_stage *w, const char *rule)
{
    const struct pt_finding *found = judged_find(w, rule);
    assert_int_equal(w->findings.n, found ? 1 : 0);
    return found;
}

/* A part of the account that takes a tenth of the stage is never without a word; what rules explain of it is taken off.
 */
static void what_no_rule_explains_has_a_word(void **state)
{
    (void)state;
    struct judged_stage *w = judged_new(10);
    judged_set(w, "time.file_write_s", 3);
    pt_judge(&w->profile, &w->findings);
    const struct pt_finding *finding = only(w, "file_writing");
    assert_non_null(finding);
    assert_true(finding->is_general && !finding->is_observation && finding->severity == PT_SEVERITY_INFO);
    assert_true(finding->gain_upper_s >= 3 && finding->gain_upper_s <= 3.31);
    judged_free(w);
    w = judged_new(10);
    judged_set(w, "time.file_write_s", 3);
    judged_set(w, "time.copied_write_s", 2.5); /* no file is waited for in that */
    pt_judge(&w->profile, &w->findings);
    assert_int_equal(w->findings.n, 0);
    judged_free(w);
    w = judged_new(10);
    judged_set(w, "time.file_write_s", 0.9); /* less than a tenth */
    pt_judge(&w->profile, &w->findings);
    assert_int_equal(w->findings.n, 0);
    judged_free(w);
    w = judged_new(10);
    judged_set(w, "time.file_write_s", 3);
    judged_set(w, "storage.sync.calls", 40);
    judged_set(w, "storage.sync.avoidable_s", 2.5);
    pt_judge(&w->profile, &w->findings);
    assert_non_null(only(w, "synchronous_fsync"));
    judged_free(w);
}

/* A pool's threads spin until the others have come: of what the program computed that is none where others kept those
 * from the CPUs, and then there is no CPU to divide work among, although its threads look for some. */
static void spinning_beside_others_is_no_work(void **state)
{
    (void)state;
    for (int is_noisy = 0; is_noisy < 2; is_noisy++) {
        struct judged_stage *w = judged_new(28);
        judged_set(w, "time.computing_s", 17);
        judged_set(w, "time.runnable_s", 10);
        judged_set(w, "cpu.spinning_s", 16);
        judged_set(w, "cpu.spinning_main_s", 8);
        judged_set(w, "neighbours.full_s", 28);
        judged_set(w, "neighbours.cpu_percent", is_noisy ? 40 : 0);
        judged_set(w, "neighbours.cost_s", is_noisy ? 18 : 0);
        judged_set(w, "neighbours.spinning_s", is_noisy ? 8 : 0);
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *computing = judged_find(w, "one_thread_computes");
        assert_non_null(computing);
        const struct pt_finding *noisy = judged_find(w, "noisy_neighbour");
        assert_int_equal(!!noisy, is_noisy);
        assert_true(!noisy || strstr(noisy->remedy, "OMP_NUM_THREADS=1"));
        assert_int_equal(!!strstr(computing->remedy, "no CPU was idle"), is_noisy);
        assert_true(fabs(computing->time_s - (is_noisy ? 17 - 8 : 17)) < 1e-9);
        judged_free(w);
    }
}

/* A first run reads what it is made of. */
static void modules_that_are_read_once_are_no_problem(void **state)
{
    (void)state;
    for (int is_data = 0; is_data < 2; is_data++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "time.file_read_s", 4);
        judged_set(w, "io.program_files.total_s", is_data ? 1 : 3);
        judged_set(w, "io.data_files.total_s", is_data ? 3 : 1);
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = only(w, "file_reading");
        assert_non_null(finding);
        assert_int_equal(finding->is_observation, !is_data);
        judged_free(w);
    }
}

/* A new part of the account needs words of its own. */
static void each_part_has_a_general_finding(void **state)
{
    (void)state;
    for (int part = 0; part < PT_PART__COUNT; part++) {
        const bool is_computing = part == PT_PART_python || part == PT_PART_native || part == PT_PART_heap;
        const struct pt_general *row = pt_generals;
        while (row->id && (int)row->part != part)
            row++;
        if (!is_computing && !row->id)
            fail_msg("general.def has no row for %s", pt_time_parts[part].id);
    }
}

/* Whom it waits for: one that waits for files could be waited for less, one that computes could not. */
static void who_computes_is_waited_for_without_a_promise(void **state)
{
    struct wait_row {
        double is_own, part, computing_s, file_read_s;
    };
    static const struct pt_column columns[] = {
        PT_COLUMN(struct wait_row, is_own, NUMBER, "Own"),
        PT_COLUMN(struct wait_row, part, NUMBER, "Part"),
        PT_COLUMN(struct wait_row, computing_s, SECONDS, "Computing"),
        PT_COLUMN(struct wait_row, file_read_s, SECONDS, "File read"),
    };
    static const struct pt_table_kind waits = {PT_VIEW_waits, .most = 9, PT_COLUMNS(columns)};
    (void)state;
    for (int computes = 0; computes < 2; computes++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "time.child_wait_s", 8);
        struct pt_table *table = pt_metrics_add_table(&w->profile.metrics, pt_scope_stage(0), &waits);
        pt_table_add(table, &(struct wait_row){1, PT_PART_child_wait, computes ? 7 : 1, computes ? 0.5 : 6});
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = only(w, "child_waiting");
        assert_non_null(finding);
        assert_int_equal(finding->is_observation, computes);
        assert_int_equal(finding->gain_upper_s > 0, !computes);
        assert_int_equal(strstr(finding->title, "which compute") != NULL, computes);
        judged_free(w);
    }
}

/* More requests at once have a server of the same run compute no less. */
static void what_servers_of_the_run_compute_is_no_gain_of_more_requests(void **state)
{
    struct wait_row {
        double is_own, part, computing_s;
    };
    static const struct pt_column columns[] = {
        PT_COLUMN(struct wait_row, is_own, NUMBER, "Own"),
        PT_COLUMN(struct wait_row, part, NUMBER, "Part"),
        PT_COLUMN(struct wait_row, computing_s, SECONDS, "Computing"),
    };
    static const struct pt_table_kind waits = {PT_VIEW_waits, .most = 9, PT_COLUMNS(columns)};
    (void)state;
    for (int computes = 0; computes < 2; computes++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "time.network_s", 8);
        judged_set(w, "net.cost_s", 8);
        judged_set(w, "net.request.calls", 100);
        judged_set(w, "net.connect.calls", 100);
        judged_set(w, "net.at_once", 1);
        struct pt_table *table = pt_metrics_add_table(&w->profile.metrics, pt_scope_stage(0), &waits);
        pt_table_add(table, &(struct wait_row){1, PT_PART_network, computes ? 7 : 1});
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = only(w, computes ? "network_waiting" : "serial_fetches");
        assert_non_null(finding);
        assert_int_equal(finding->is_observation, computes);
        judged_free(w);
    }
}

/* Nothing is to be fixed where there is room, or where a framework took it all at once, but it is said. */
static void memory_that_is_there_is_no_problem(void **state)
{
    static const struct {
        const char *rule, *uses;
        double bytes;
        const char *room;
        double number;
        bool is_problem;
    } cases[] = {{"high_memory", "rss.max_bytes", 3e10, "resource.machine_memory_percent.max", 20, false},
                 {"high_memory", "rss.max_bytes", 3e10, "resource.machine_memory_percent.max", 60, true},
                 {"high_memory", "rss.max_bytes", 3e10, "resource.machine_memory_percent.max", NAN, true},
                 {"gpu_memory_full", "gpu.memory.peak_percent", 93, "gpu.memory.near_limit.calls", 0, false},
                 {"gpu_memory_full", "gpu.memory.peak_percent", 93, "gpu.memory.near_limit.calls", 8, true},
                 {"gpu_memory_full", "gpu.memory.peak_percent", 93, "gpu.memory.near_limit.calls", NAN, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, cases[i].uses, cases[i].bytes);
        if (!isnan(cases[i].number))
            judged_set(w, cases[i].room, cases[i].number);
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = judged_find(w, cases[i].rule);
        assert_non_null(finding);
        assert_int_equal(!finding->is_observation, cases[i].is_problem);
        judged_free(w);
    }
}

struct device_row {
    double window_s;
};

/* What a main thread launches to a GPU that is never idle costs nothing; what it computes before the GPU's work does.
 */
static void who_keeps_a_gpu_busy_is_told_so(void **state)
{
    static const struct pt_column columns[] = {PT_COLUMN(struct device_row, window_s, SECONDS, "First to last")};
    static const struct pt_table_kind devices = {PT_VIEW_gpu_devices, .most = 9, PT_COLUMNS(columns)};
    static const struct {
        double busy_percent, window_s;
        bool is_told;
    } cases[] = {{98, 9, true}, {85, 9, false}, {98, 4, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct judged_stage *w = judged_new(10);
        judged_set(w, "time.computing_s", 8);
        judged_set(w, "gpu.gaps.busy_percent", cases[i].busy_percent);
        pt_table_add(pt_metrics_add_table(&w->profile.metrics, pt_scope_stage(0), &devices),
                     &(struct device_row){cases[i].window_s});
        pt_judge(&w->profile, &w->findings);
        const struct pt_finding *finding = judged_find(w, "one_thread_computes");
        assert_non_null(finding);
        assert_int_equal(strstr(finding->title, "GPU is busy") != NULL, cases[i].is_told);
        assert_int_equal(strstr(finding->remedy, "98 %") != NULL, cases[i].is_told);
        judged_free(w);
    }
}

/* PyTorch looks for the other ranks until all are there: the program has no loop to change. */
static void the_wait_for_all_ranks_is_no_polling(void **state)
{
    static const struct pt_stack_frame meet = {.function = "init_process_group",
                                               .file = "/py/torch/distributed/distributed_c10d.py",
                                               .flags = PT_FRAME_OF_PYTHON | PT_FRAME_SERVES},
                                       main = {.function = "main", .file = "/a/t.py", .flags = PT_FRAME_OF_PYTHON};
    (void)state;
    for (int meets = 0; meets < 2; meets++) {
        struct judged_stage *w = judged_new(20);
        judged_set(w, "sleep.short.calls", 80);
        judged_set(w, "sleep.short.cost_s", 4);
        struct pt_stack *stack =
            pt_stacks_add(&w->profile.stacks, 0, (const struct pt_stack_frame[]){meets ? meet : main, main}, 2);
        stack->part = PT_PART_sleep;
        stack->cost[PT_STACK_MAINS_CALL_S] = 4;
        pt_judge(&w->profile, &w->findings);
        assert_int_equal(judged_find(w, "sleep_polling") != NULL, !meets);
        judged_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sound),
        cmocka_unit_test(a_gain_never_exceeds_the_wall_time),
        cmocka_unit_test(small_gains_are_hidden),
        cmocka_unit_test(the_largest_gain_comes_first),
        cmocka_unit_test(the_specific_stands_above_the_general),
        cmocka_unit_test(workers_of_each_epoch_are_one_finding),
        cmocka_unit_test(an_empty_capture_is_a_finding),
        cmocka_unit_test(a_run_without_processes_says_why),
        cmocka_unit_test(growth_must_be_large_and_steady),
        cmocka_unit_test(swapping_costs_the_kernels_work_too),
        cmocka_unit_test(a_librarys_generator_is_of_its_only_caller),
        cmocka_unit_test(what_no_rule_explains_has_a_word),
        cmocka_unit_test(each_part_has_a_general_finding),
        cmocka_unit_test(spinning_beside_others_is_no_work),
        cmocka_unit_test(modules_that_are_read_once_are_no_problem),
        cmocka_unit_test(who_computes_is_waited_for_without_a_promise),
        cmocka_unit_test(what_servers_of_the_run_compute_is_no_gain_of_more_requests),
        cmocka_unit_test(memory_that_is_there_is_no_problem),
        cmocka_unit_test(who_keeps_a_gpu_busy_is_told_so),
        cmocka_unit_test(the_wait_for_all_ranks_is_no_polling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
