/* SPDX-License-Identifier: MIT
 *
 * What the allocator took, by the CPU profile: its functions and what they call, whoever brings them, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "analysis/cpu/allocator_share.h"
#include "rules/rule.h"

/* A frame for each row: what called it (its row from 1; 0 = nobody), and whether its samples count: 2 = those of the
 * program, 1 = of recording, for the bound alone. */
static const struct {
    pt_u32 parent;
    const char *name, *module, *file;
    int counts;
} rows[] = {
    {0, "main", "/usr/bin/train", NULL, 0},
    {1, "malloc", "/opt/lib/libproftrace.so", NULL, 1},
    {2, "[kernel]", NULL, NULL, 1},
    {2, "__libc_malloc", "/usr/lib/libc.so.6", NULL, 2},
    {4, "[kernel]", NULL, NULL, 2}, /* brk for it */
    {1, "malloc_slow", "/opt/lib/libproftrace.so", "/src/preload/hooks/heap/heap.c", 1},
    {6, "__rdtsc", "/opt/lib/libproftrace.so", NULL, 1},
    {1, "[libproftrace.so]", "/opt/lib/libproftrace.so", NULL, 1},
    {1, "read", "/opt/lib/libproftrace.so", NULL, 0},
    {1, "read", "/opt/lib/libproftrace.so", "/src/preload/hooks/file/file_io.c", 0},
    {1, "operator new(unsigned long)", "/usr/lib/libstdc++.so.6", NULL, 2},
    {1, "[libjemalloc.so.2]", "/usr/lib/libjemalloc.so.2", NULL, 2},
    {1, "free_pages", "/usr/bin/train", NULL, 0},
    {1, "memset", "/usr/lib/libc.so.6", NULL, 0}, /* the first touch of what it got */
};

enum { N = sizeof rows / sizeof *rows };

struct world {
    struct pt_session session;
    struct pt_process process;
    struct pt_process *processes[1];
    struct pt_profile profile;
    struct pt_findings findings;
};

static void new_world(struct world *w)
{
    *w = (struct world){.processes = {&w->process}};
    w->process = (struct pt_process){.session = &w->session, .end_ns = 10000000000, .stage = "train"};
    static const struct pt_heap_totals heap = {.allocs = 5};
    w->process.heap = &heap;
    w->session = (struct pt_session){.duration_ns = 10000000000, .processes = w->processes, .n_processes = 1};
    w->profile.session = &w->session;
    pt_stages_build(&w->profile.stages, &w->session, NULL);
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "capture.total", pt_integer(5));
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "heap.churn.share_percent", pt_real(80));
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "heap.churn.calls", pt_real(10e6));
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "heap.churn.mapping_s", pt_real(0));
    pt_metrics_set(&w->profile.metrics, pt_scope_stage(0), "heap.churn.cost_s", pt_real(2));
}

static void end_world(struct world *w)
{
    pt_findings_free(&w->findings);
    pt_profile_free(&w->profile);
}

/* One sample of each row, each of a tenth of a second. */
static void profile_allocator(struct pt_profile *profile, pt_u32 flags)
{
    struct pt_cpu_function functions[N + 1] = {{.name = ""}};
    struct pt_cpu_frame frames[N + 1] = {{0}};
    struct pt_cpu_count counts[N];
    pt_u32 frame_of[N + 1] = {0};
    double sample_s[2] = {0, 0.1};
    struct pt_cpu_data data = {.counts = counts, .n_counts = N, .n_nodes = N + 1, .n_threads = 2};
    struct pt_cpu_view view = {.data = &data, .frame_of = frame_of, .shared_s = sample_s};
    for (pt_u32 i = 0; i < N; i++) {
        const enum pt_code_kind code = rows[i].module ? pt_code_of_file(rows[i].module) : PT_CODE_KERNEL;
        functions[i + 1] = (struct pt_cpu_function){
            .name = rows[i].name, .module = rows[i].module, .file = rows[i].file, .code = code};
        frames[i + 1] =
            (struct pt_cpu_frame){.parent = rows[i].parent,
                                  .function = i + 1,
                                  .is_in_allocator = frames[rows[i].parent].is_in_allocator ||
                                                     pt_code_is_allocator(code, rows[i].file, rows[i].name)};
        frame_of[i + 1] = i + 1;
        counts[i] = (struct pt_cpu_count){.thread = 1, .node = i + 1, .samples = 1};
    }
    data.totals.samples = N;
    data.header.flags = flags;
    view.functions.items = functions;
    view.functions.n = N + 1;
    view.frames.items = frames;
    view.frames.n = N + 1;
    pt_allocator(profile, 0, &view);
}

static double number(const struct world *w, const char *metric)
{
    return pt_value_number(pt_metrics_get(&w->profile.metrics, pt_scope_stage(0), metric));
}

static const struct pt_finding *churn_of(struct world *w)
{
    pt_judge(&w->profile, &w->findings);
    for (size_t i = 0; i < w->findings.n; i++)
        if (!strcmp(w->findings.items[i].rule, "heap_churn"))
            return &w->findings.items[i];
    return NULL;
}

static void samples_in_an_allocator_count(void **state)
{
    (void)state;
    struct world w;
    double want_s = 0, all_s = 0;
    new_world(&w);
    profile_allocator(&w.profile, PT_CPU_SAMPLED);
    for (int i = 0; i < N; i++) {
        want_s += rows[i].counts == 2 ? 0.1 : 0;
        all_s += rows[i].counts ? 0.1 : 0;
    }
    assert_true(fabs(number(&w, "cpu.allocator_s") - want_s) < 1e-9);
    assert_true(number(&w, "cpu.allocator_most_s") > all_s);
    /* and bound what could be gained, whatever the number of calls lets expect */
    const struct pt_finding *finding = churn_of(&w);
    assert_non_null(finding);
    assert_int_equal(finding->confidence, PT_CONFIDENCE_HIGH);
    assert_true(finding->gain_upper_s > number(&w, "cpu.allocator_most_s") && finding->gain_upper_s < 2.2 * all_s);
    end_world(&w);
}

/* A handful of samples may be chance: then what the calls can have taken is less. */
static void few_samples_are_chance(void **state)
{
    (void)state;
    struct world w;
    new_world(&w);
    profile_allocator(&w.profile, PT_CPU_SAMPLED);
    pt_metrics_set(&w.profile.metrics, pt_scope_stage(0), "heap.churn.cost_s", pt_real(0.5));
    const struct pt_finding *finding = churn_of(&w);
    assert_non_null(finding);
    assert_true(fabs(finding->gain_upper_s - 0.55) < 1e-9);
    end_world(&w);
    /* and waiting for a CPU is no reason for a finding */
    new_world(&w);
    profile_allocator(&w.profile, PT_CPU_SAMPLED);
    pt_metrics_set(&w.profile.metrics, pt_scope_stage(0), "heap.churn.cost_s", pt_real(0.09));
    pt_metrics_set(&w.profile.metrics, pt_scope_stage(0), "cpu.oversubscribed.queue_share", pt_real(6));
    pt_metrics_set(&w.profile.metrics, pt_scope_stage(0), "cpu.allocator_s", pt_real(0.05));
    assert_null(churn_of(&w));
    end_world(&w);
}

static void without_the_kernels_share_calls_are_counted(void **state)
{
    (void)state;
    struct world w;
    new_world(&w);
    profile_allocator(&w.profile, PT_CPU_SAMPLED | PT_CPU_USER_ONLY);
    const struct pt_finding *finding = churn_of(&w);
    assert_non_null(finding);
    assert_int_equal(finding->confidence, PT_CONFIDENCE_LOW);
    assert_true(fabs(finding->gain_upper_s - 2.2) < 1e-9);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_in_an_allocator_count),
        cmocka_unit_test(few_samples_are_chance),
        cmocka_unit_test(without_the_kernels_share_calls_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
