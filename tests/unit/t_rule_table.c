/* SPDX-License-Identifier: MIT
 *
 * Every rule fires at what it complains about, and is silent when one figure is other. The two cases of a RULE follow
 * from its row: its metric at the threshold, and beyond it. A RULE_CUSTOM needs a row here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "rules/rule.h"

/* A metric of the stage, or what is known of its process: see set_of_process. */
struct figure {
    const char *metric;
    double value;
};

/* The last figure of `fires` is replaced by `silent`. */
static const struct {
    const char *rule;
    struct figure fires[12];
    double silent;
} rows[] = {
    {"io_pressure",
     {{"pressure.io.cost_s", 4},
      {"storage.sync.cost_s", 0.1},
      {"storage.slow_read.cost_s", 0},
      {"resource.io_pressure_percent.mean", 40}},
     15},
    {"io_pressure",
     {{"pressure.io.cost_s", 4},
      {"resource.io_pressure_percent.mean", 40},
      {"pressure.memory.cost_s", 0},
      {"storage.slow_read.cost_s", 0},
      {"storage.sync.cost_s", 0.1}},
     3},
    {"io_pressure",
     {{"resource.io_pressure_percent.mean", 40}, {"storage.device.bytes", 1e9}, {"pressure.io.cost_s", 4}},
     0},
    {"io_pressure",
     {{"resource.io_pressure_percent.mean", 40}, {"pressure.io.cost_s", 4}, {"storage.device.bytes", 1e9}},
     4096},
    {"cold_mapping", {{"fault.major.calls", 500}, {"time.page_fault_s", 4}, {"io.mapped_data.bytes", 1e8}}, 4096},
    {"cold_mapping",
     {{"fault.major.calls", 500}, {"time.page_fault_s", 4}, {"resource.memory_pressure_percent.mean", 1}},
     20},
    {"cold_mapping",
     {{"fault.major.calls", 20}, {"resource.memory_pressure_percent.mean", 1}, {"time.page_fault_s", 4}},
     0.2},
    /* the machine is short of memory; the stage's group is not */
    {"swapping",
     {{"faults.major.calls", 500},
      {"time.page_fault_s", 4},
      {"pressure.memory.cost_s", 4},
      {"resource.memory_pressure_percent.mean", 40},
      {"resource.group_memory_pressure_percent.mean", 40}},
     1},
    {"cold_mapping",
     {{"fault.major.calls", 500},
      {"faults.major.calls", 500},
      {"time.page_fault_s", 4},
      {"resource.memory_pressure_percent.mean", 40},
      {"resource.group_memory_pressure_percent.mean", 1}},
     20},
    /* the group's pressure is not known: its pages were not thrown out, or it hardly waited for them */
    {"swapping",
     {{"faults.major.calls", 500},
      {"time.page_fault_s", 4},
      {"pressure.memory.cost_s", 4},
      {"resource.memory_pressure_percent.mean", 40},
      {"resource.group_refaults.last", 5000}},
     3},
    {"swapping",
     {{"faults.major.calls", 500},
      {"pressure.memory.cost_s", 4},
      {"resource.memory_pressure_percent.mean", 40},
      {"fault.wait_s", 2}},
     0.1},
    {"cold_mapping", {{"time.page_fault_s", 4}, {"resource.disk_read_bytes.last", 1e7}}, 1e5},
    {"tiny_operations",
     {{"training.dispatch_s", 2},
      {"training.python_s", 1},
      {"training.dispatch_percent", 20},
      {"training.operations_s", 0.5}},
     0.8},
    {"tiny_operations",
     {{"training.dispatch_s", 2},
      {"training.operations_s", 0.5},
      {"training.dispatch_percent", 20},
      {"training.python_s", 1}},
     7},
    {"python_in_training",
     {{"training.dispatch_s", 1},
      {"training.python_s", 7},
      {"training.operations_s", 0.5},
      {"training.preparing_s", 6.5},
      {"training.preparing_percent", 65}},
     20},
    {"python_in_training",
     {{"training.dispatch_s", 1},
      {"training.python_s", 7},
      {"training.operations_s", 0.5},
      {"training.preparing_s", 6.5},
      {"training.preparing_percent", 65},
      {"load.in_main.percent", 3}},
     20},
    {"io_pressure",
     {{"pressure.io.cost_s", 4}, {"resource.io_pressure_percent.mean", 40}, {"time.page_fault_s", 1}},
     3},
    {"high_memory", {{"rss.max_bytes", 2e10}, {"resource.processes.max", 20}, {"resource.pss_bytes.max", 1.9e10}}, 2e9},
    {"high_memory", {{"resource.processes.max", 1}, {"resource.pss_bytes.max", 2e9}, {"rss.max_bytes", 2e10}}, 1e10},
    /* few pieces of work, which take long */
    {"too_few_workers",
     {{"helpers.wait_s", 4},
      {"helpers.workers.count", 1},
      {"helpers.workers.at_once", 1},
      {"helpers.busy_percent", 99},
      {"helpers.feed.calls", 4}},
     3},
    /* one worker of two has all the work */
    {"worker_imbalance",
     {{"helpers.wait_s", 4},
      {"helpers.feed.calls", 40},
      {"helpers.busy_percent", 55},
      {"helpers.imbalance.cost_s", 4},
      {"helpers.imbalance.most_s", 9},
      {"helpers.imbalance.others_s", 1},
      {"helpers.imbalance.busy_percent", 99}},
     60},
    {"noisy_neighbour", {{"neighbours.cost_s", 4}, {"neighbours.cpu_percent", 40}}, 9},
    {"noisy_neighbour", {{"neighbours.cpu_percent", 40}, {"neighbours.cost_s", 4}}, 0.4},
    {"gpu_under_used",
     {{"gpu.idle.cost_s", 5}, {"resource.gpu_util_percent.mean", 50}, {"resource.gpu_util_percent.max", 90}},
     0},
    {"gpu_under_used",
     {{"gpu.idle.cost_s", 5}, {"resource.gpu_util_percent.max", 90}, {"resource.gpu_util_percent.mean", 50}},
     71},
    {"gpu_under_used", {{"gpu.idle_s", 5}, {"gpu.gaps.large_s", 1}, {"gpu.busy_percent", 40}}, 75},
    {"gpu_under_used", {{"gpu.idle_s", 5}, {"gpu.busy_percent", 40}, {"gpu.gaps.large_s", 1}}, 4},
    {"gpu_large_gaps", {{"gpu.idle_s", 5}, {"gpu.gaps.large_s", 4}}, 3},
    {"gpu_launch_bound",
     {{"gpu.launch_bound.cost_s", 3},
      {"gpu.kernels.calls", 1000},
      {"gpu.kernels.mean_s", 2e-5},
      {"gpu.launch.per_kernel_percent", 150},
      {"gpu.launch.empty_percent", 90}},
     40},
    {"gpu_launch_bound",
     {{"gpu.launch_bound.cost_s", 3},
      {"gpu.kernels.calls", 1000},
      {"gpu.launch.per_kernel_percent", 150},
      {"gpu.launch.empty_percent", 90},
      {"gpu.kernels.mean_s", 2e-5}},
     2e-3},
    {"gpu_collective_imbalance",
     {{"gpu.collectives.ranks.count", 2},
      {"gpu.collectives.imbalance.cost_s", 3},
      {"gpu.collectives.imbalance_percent", 60}},
     10},
    {"gpu_memory_full", {{"gpu.memory.peak_percent", 93}}, 89},
    {"cpu_saturated", {{"cpu.used_percent", 97}}, 94},
    {"high_memory", {{"rss.max_bytes", 17.0 * 1024 * 1024 * 1024}}, 15.0 * 1024 * 1024 * 1024},
    {"memory_near_limit", {{"resource.machine_memory_percent.max", 92}}, 88},
    {"swapping", {{"pressure.memory.cost_s", 3}, {"resource.memory_pressure_percent.mean", 30}}, 4},
    {"page_fault_storm", {{"faults.cost_s", 3}}, 0.9},
    {"page_fault_storm", {{"faults.cost_s", 3}, {"rss.max_bytes", 1e9}, {"faults.minor.calls", 1e6}}, 3e5},
    {"oversubscribed_threads",
     {{"machine.cpus", 4},
      {"cpu.oversubscribed.cost_s", 4},
      {"cpu.oversubscribed.threads_per_process", 16},
      {"cpu.oversubscribed.queue_share", 3}},
     0.5},
    {"oversubscribed_threads",
     {{"machine.cpus", 4},
      {"cpu.oversubscribed.cost_s", 4},
      {"cpu.oversubscribed.queue_share", 3},
      {"cpu.oversubscribed.threads_per_process", 16}},
     5},
    {"oversubscribed_threads",
     {{"machine.cpus", 4},
      {"cpu.oversubscribed.cost_s", 4},
      {"cpu.oversubscribed.queue_share", 3},
      {"cpu.oversubscribed.threads_per_process", 16},
      {"cpu.computing_threads", 15}},
     1.3},
    /* OpenMP's threads beside a main thread that does most */
    {"oversubscribed_threads",
     {{"machine.cpus", 2},
      {"cpu.total_s", 10},
      {"cpu.spinning_s", 3},
      {"cpu.spinning_main_s", 1},
      {"time.runnable_s", 2},
      {"cpu.pool_threads", 16}},
     2},
    {"oversubscribed_threads",
     {{"machine.cpus", 2},
      {"cpu.pool_threads", 16},
      {"cpu.total_s", 10},
      {"time.runnable_s", 2},
      {"cpu.spinning_s", 3}},
     0.1},
    {"oversubscribed_threads", /* they take turns, as with Python's GIL */
     {{"machine.cpus", 4},
      {"cpu.oversubscribed.cost_s", 4},
      {"cpu.oversubscribed.queue_share", 3},
      {"cpu.oversubscribed.threads_per_process", 16},
      {"cpu.computing_threads", 15},
      {"cpu.oversubscribed.at_once", 15}},
     1.5},
    {"slow_device",
     {{"storage.slow_read.cost_s", 3},
      {"storage.slow_read.bytes", 1e8},
      {"storage.slow_read.total_s", 1},
      {"io.read.wait_s", 4},
      {"resource.disk_read_bytes.last", 9e7}},
     1e5},
    {"serial_fetches",
     {{"net.cost_s", 3}, {"net.request.calls", 30}, {"net.connect.calls", 3}, {"net.at_once", 1.1}},
     6},
    {"worker_imbalance", {{"helpers.imbalance.cost_s", 3}, {"helpers.imbalance.ratio", 1.8}}, 1.1},
    {"rank_imbalance",
     {{"ranks.count", 2}, {"ranks.imbalance.cost_s", 3}, {"ranks.late", 1}, {"ranks.imbalance_percent", 90}},
     10},
    /* the GPU's own rule says it */
    {"rank_imbalance",
     {{"ranks.count", 2},
      {"ranks.imbalance.cost_s", 3},
      {"ranks.imbalance_percent", 90},
      {"gpu.collectives.ranks.count", 0}},
     2},
    /* phases of a training */
    {"steps_wait_for_data", {{"training.waits.cost_s", 4}, {"training.waits_percent", 30}}, 19},
    {"steps_wait_for_data",
     {{"training.waits.cost_s", 4}, {"training.waits_percent", 30}, {"load.in_main.percent", 4}},
     5},
    {"steps_wait_for_data",
     {{"training.waits.cost_s", 4}, {"training.waits_percent", 30}, {"training.preparing_percent", 0}},
     30},
    {"batches_of_one",
     {{"training.per_step.cost_s", 4},
      {"steps.count", 1000},
      {"training.forward_s", 2},
      {"training.ones_percent", 100}},
     50},
    {"batches_of_one",
     {{"training.per_step.cost_s", 4},
      {"training.forward_s", 2},
      {"training.ones_percent", 100},
      {"steps.count", 1000}},
     10},
    {"batches_of_one",
     {{"training.per_step.cost_s", 4},
      {"training.ones_percent", 100},
      {"steps.count", 1000},
      {"training.forward_s", 2}},
     6},
    /* workers: the same stage with one figure changed is another complaint, or none */
    {"dataloader_disk_bound",
     {{"machine.cpus", 4},
      {"helpers.wait_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.workers.at_once", 4},
      {"helpers.busy_percent", 90},
      {"helpers.cpu_percent", 10},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 80}},
     5},
    /* no call asks for pages of mapped files */
    {"dataloader_disk_bound",
     {{"machine.cpus", 2},
      {"helpers.wait_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.workers.at_once", 2},
      {"helpers.busy_percent", 90},
      {"helpers.cpu_percent", 1},
      {"helpers.queue_percent", 1},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 30},
      {"helpers.fault_percent", 40}},
     0},
    {"dataloader_cpu_bound",
     {{"machine.cpus", 2},
      {"helpers.wait_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.workers.at_once", 2},
      {"helpers.busy_percent", 90},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 30},
      {"helpers.fault_percent", 0},
      {"helpers.queue_percent", 5},
      {"helpers.cpu_percent", 60}},
     1},
    {"dataloader_cpu_bound",
     {{"machine.cpus", 4},
      {"helpers.wait_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.busy_percent", 90},
      {"helpers.cpu_percent", 80},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 5},
      {"helpers.workers.at_once", 4}},
     2},
    {"dataloader_cpu_bound", /* other programs have the CPUs that they queue for */
     {{"machine.cpus", 2},
      {"helpers.wait_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.workers.at_once", 2},
      {"helpers.busy_percent", 95},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 0},
      {"helpers.fault_percent", 0},
      {"helpers.cpu_percent", 2},
      {"helpers.queue_percent", 92},
      {"queue.others_percent", 10}},
     100},
    {"too_few_workers",
     {{"machine.cpus", 4},
      {"helpers.wait_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.busy_percent", 90},
      {"helpers.cpu_percent", 80},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 5},
      {"helpers.workers.at_once", 2}},
     4},
    {"too_few_workers",
     {{"machine.cpus", 4},
      {"helpers.feed.calls", 90},
      {"helpers.busy_percent", 90},
      {"helpers.cpu_percent", 80},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 5},
      {"helpers.workers.at_once", 2},
      {"helpers.wait_s", 4}},
     0.2},
    {"workers_start", {{"helpers.feed.calls", 90}, {"helpers.wait_s", 3}, {"helpers.start_s", 2}}, 1.4},
    {"too_many_workers",
     {{"machine.cpus", 4},
      {"helpers.total_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.cpu_percent", 10},
      {"helpers.other_percent", 0},
      {"helpers.file_percent", 5},
      {"helpers.workers.at_once", 24}},
     8},
    {"too_many_workers",
     {{"machine.cpus", 4},
      {"helpers.total_s", 4},
      {"helpers.feed.calls", 90},
      {"helpers.workers.at_once", 24},
      {"helpers.cpu_percent", 10},
      {"helpers.file_percent", 5},
      {"helpers.other_percent", 0}},
     70},
    {"heap_churn", {{"heap.churn.cost_s", 3}, {"heap.churn.share_percent", 50}}, 29},
    {"heap_churn",
     {{"heap.churn.share_percent", 50}, {"heap.churn.cost_s", 3}, {"heap.churn.mapping_s", 0}, {"cpu.allocator_s", 3}},
     0.09},
    {"heap_growth", {{"heap.leak.bytes", 1e9}, {"heap.leak.length_s", 9}, {"heap.leak.share_percent", 60}}, 20},
    {"heap_growth", {{"heap.leak.bytes", 1e9}, {"heap.leak.share_percent", 60}, {"heap.leak.length_s", 9}}, 0.2},
    {"large_blocks_remapped",
     {{"faults.cost_s", 3}, {"faults.minor.calls", 1e6}, {"heap.remapped_large.bytes", 3e9}},
     1e9},
    /* Python's own arenas are not malloc's, and blocks that stay have to be touched in any case */
    {"large_blocks_remapped",
     {{"faults.cost_s", 3},
      {"faults.minor.calls", 1e6},
      {"heap.remapped_large.bytes", 3e9},
      {"heap.arenas.bytes", 1e9}},
     3.5e9},
    {"page_fault_storm", {{"faults.cost_s", 3}, {"faults.minor.calls", 1e6}, {"heap.arenas.bytes", 1e9}}, 3.5e9},
    /* the capture itself */
    {"nothing_captured", {{"capture.total", 0}}, 5},
    {"died_by_signal", {{"deaths.processes", 1}}, 0},
    {"mostly_untraced", {{"process.untraced", 1}, {"process.cpu_s", 1}, {"cpu.total_s", 10}}, 1.9},
    {"mostly_untraced", {{"process.cpu_s", 1}, {"cpu.total_s", 10}, {"process.untraced", 1}}, 0},
    {"trace_cut_short", {{"process.truncated", 1}}, 0},
    {"events_lost", {{"capture.events", 7}, {"capture.lost.events", 3}}, 0},
    {"gpu_data_incomplete", {{"gpu.missing_percent", 2}}, 0.05},
    /* thresholds of the configuration: what did not stay above them is no metric */
    {"cpu_above_threshold", {{"alert.cpu.threshold_percent", 90}, {"alert.cpu.above_s", 4}}, NAN},
    {"memory_above_threshold", {{"alert.memory.threshold_percent", 90}, {"alert.memory.above_s", 4}}, NAN},
    {"disk_above_threshold", {{"alert.disk.threshold_percent", 90}, {"alert.disk.above_s", 4}}, NAN},
};

/* People read words, and no two facts of a finding under the same one. */
static void check_words(const struct pt_finding *finding)
{
    for (pt_u32 i = 0; i < finding->n_evidence; i++) {
        const char *label = pt_evidence_label(finding->evidence[i].key);
        if (!label)
            fail_msg("%s: evidence.def has no row for %s", finding->rule, finding->evidence[i].key);
        for (pt_u32 j = 0; j < i; j++)
            if (!strcmp(label, pt_evidence_label(finding->evidence[j].key)))
                fail_msg("%s: two facts are called '%s'", finding->rule, label);
    }
}

enum { N_ROWS = sizeof rows / sizeof *rows };

/* True = that was no metric. */
static bool set_of_process(struct pt_process *process, const char *name, double value)
{
    static struct pt_untraced program = {.path = "/usr/bin/go", .reason = "static"};
    if (!strcmp(name, "process.untraced"))
        process->n_untraced = (pt_u32)value, process->untraced = &program;
    else if (!strcmp(name, "process.truncated"))
        process->quality.truncated = value != 0;
    else if (!strcmp(name, "process.cpu_s"))
        process->cpu_ns = (pt_u64)(value * 1e9);
    else
        return false;
    return true;
}

/* A stage of one process that ran for ten seconds. */
static bool fires(const char *rule, const struct figure *figures, double last)
{
    struct pt_session session = {.duration_ns = 10000000000, .n_processes = 1};
    struct pt_process process = {.session = &session, .end_ns = session.duration_ns, .stage = "train"};
    struct pt_process *processes[] = {&process};
    struct pt_profile profile = {.session = &session};
    struct pt_findings findings = {0};
    bool found = false;
    session.processes = processes;
    process.heap.allocs = 5;
    pt_stages_build(&profile.stages, &session, NULL);
    pt_metrics_set(&profile.metrics, pt_scope_stage(0), "capture.total", pt_integer(5));
    pt_metrics_set(&profile.metrics, pt_scope_stage(0), "gpu.source", pt_text("cupti"));
    for (size_t i = 0; figures[i].metric; i++) {
        const double value = figures[i + 1].metric ? figures[i].value : last;
        if (!isnan(value) && !set_of_process(&process, figures[i].metric, value))
            pt_metrics_set(&profile.metrics, pt_scope_stage(0), figures[i].metric, pt_real(value));
    }
    pt_judge(&profile, &findings);
    for (size_t i = 0; i < findings.n; i++) {
        found |= !strcmp(findings.items[i].rule, rule);
        check_words(&findings.items[i]);
    }
    pt_findings_free(&findings);
    pt_profile_free(&profile);
    return found;
}

static void judge(const char *rule, const struct figure *figures, double last, double silent)
{
    if (!fires(rule, figures, last))
        fail_msg("%s does not fire at %s = %g", rule, figures[0].metric, last);
    if (fires(rule, figures, silent))
        fail_msg("%s is not silent at %s = %g", rule, figures[0].metric, silent);
}

static void each_case_fires_and_is_silent(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        size_t n = 0;
        while (rows[i].fires[n].metric)
            n++;
        judge(rows[i].rule, rows[i].fires, rows[i].fires[n - 1].value, rows[i].silent);
    }
}

/* Of a RULE: just within its threshold, and just not. */
static void judge_row(const struct pt_rule *rule)
{
    const bool is_its_cost = !strcmp(rule->metric, rule->cost);
    const bool or_costly = strstr(rule->comparison, "or costly");
    const struct figure figures[] = {
        {is_its_cost ? "capture.events" : rule->cost, or_costly ? 0.5 : 3}, {rule->metric, 0}, {NULL, 0}};
    const bool is_least = *rule->comparison == '>', is_included = rule->comparison[1] == '=';
    const double step = fabs(rule->threshold) * 1e-6 + 1e-9, within = is_least ? step : -step;
    const double at = rule->threshold;
    judge(rule->id, figures, is_included ? at : at + within, is_included ? at - within : at);
    judge(rule->id, figures, at + within, NAN); /* what is not known is no reason to complain */
    const struct figure by_cost[] = {{rule->metric, at + within}, {rule->cost, 0}, {NULL, 0}};
    judge(rule->id, by_cost, 3, 0.05); /* nor is what could gain next to nothing */
    /* Seconds first: a tenth of the stage is worth a finding however few calls it was, if its account says so, too. */
    const struct figure few[] = {
        {rule->metric, at - within}, {rule->cost, 1.1}, {pt_time_parts[rule->part].metric, 0}, {NULL, 0}};
    if (or_costly && !is_its_cost)
        judge(rule->id, few, 1.5, 0.5);
}

static void every_rule_has_both_cases(void **state)
{
    (void)state;
    for (const struct pt_rule *rule = pt_rules; rule->id; rule++) {
        size_t cases = 0;
        for (size_t i = 0; i < N_ROWS; i++)
            cases += !strcmp(rows[i].rule, rule->id);
        if (!rule->custom)
            judge_row(rule);
        else if (!cases)
            fail_msg("%s has no case in which it fires and is silent: add one to rows[]", rule->id);
    }
}

/* A case of a rule that was renamed would be silent for ever. */
static void every_case_is_of_a_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct pt_rule *rule = pt_rules;
        while (rule->id && strcmp(rule->id, rows[i].rule) != 0)
            rule++;
        if (!rule->id)
            fail_msg("there is no rule %s", rows[i].rule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case_fires_and_is_silent),
        cmocka_unit_test(every_rule_has_both_cases),
        cmocka_unit_test(every_case_is_of_a_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
