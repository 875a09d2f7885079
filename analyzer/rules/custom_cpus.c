/* SPDX-License-Identifier: MIT
 *
 * Owns: the rules about CPUs: more threads than there are, and what other programs and the host of a virtual machine
 * took of them. Threads: one. Never: sees an event.
 */
#include <math.h>

#include "conditions.h"
#include "custom.h"

/* Able to run at the same instant, on average over the stage, for each CPU. */
#define LEAST_AT_ONCE 1.25

/* Threads of a pool that spin until the others have come, and are more than the CPUs: the one that does most, beside
 * which each of them computes little, is the main thread. */
#define LEAST_SPINNING 0.05
#define SLOWED 0.15
/* Of what other programs cost: so much of it by spinning is worth fewer threads. */
#define POOL_SHARE 0.1
#define QUEUE_COSTS 0.08

static bool has_spinning_pool(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return pt_finding_number(finding, metrics, "cpu.pool_threads") >
               pt_finding_number(finding, metrics, "cpus.usable") &&
           pt_finding_number(finding, metrics, "cpu.spinning_s") >=
               LEAST_SPINNING * pt_finding_number(finding, metrics, "cpu.total_s");
}

/* Of the critical thread: spinning, queueing behind the others, and waiting for them by a raw futex. */
static double for_pool_s(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double others = pt_finding_number_or_0(finding, metrics, "queue.others_percent") / 100;
    return pt_finding_number_or_0(finding, metrics, "cpu.spinning_main_s") +
           (1 - others) * pt_finding_number_or_0(finding, metrics, "time.runnable_s") +
           pt_finding_number_or_0(finding, metrics, "time.unattributed_s");
}

static bool spins_for_others(struct pt_finding *finding, struct pt_metrics *metrics)
{
    if (!has_spinning_pool(finding, metrics))
        return false;
    finding->gain_upper_s = for_pool_s(finding, metrics);
    pt_finding_add_metrics(finding, metrics,
                           "pool_threads:cpu.pool_threads spinning_s:cpu.spinning_s cpus:cpus.usable "
                           "run_queue_s:cpu.run_queue_s cpu_s:cpu.total_s "
                           "involuntary_switches:resource.involuntary_switches.last");
    pt_finding_add_rows(finding, metrics, "cpu.functions", "self_s");
    return true;
}

/* Threads that need each other give up the CPU again and again, by waiting or to look again; those that do work of
 * their own keep it for as long as the kernel gives it to them, which is 1 to 4 ms. Measured on two CPUs, for each
 * second of CPU time: 24 threads at a barrier that spins 13,000, OpenMP's 57,000, 16 that share nothing 330. */
#define LEAST_SWITCHES_PER_S 1000

static bool need_each_other(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double switches = pt_finding_number(finding, metrics, "resource.voluntary_switches.last") +
                            pt_finding_number(finding, metrics, "resource.involuntary_switches.last");
    return has_spinning_pool(finding, metrics) ||
           !(switches < LEAST_SWITCHES_PER_S * pt_finding_number(finding, metrics, "cpu.total_s"));
}

/* Threads of one process that compute, not those that exist: most pools are idle. Nor those that take turns, as with
 * Python's GIL: all of them compute, but one at a time. */
static bool has_too_many(const struct pt_finding *finding, const struct pt_metrics *metrics, double cpus)
{
    return pt_finding_number(finding, metrics, "cpu.oversubscribed.threads_per_process") > 2 * cpus &&
           !(pt_finding_number(finding, metrics, "cpu.oversubscribed.at_once") <= LEAST_AT_ONCE * cpus) &&
           !(pt_finding_number(finding, metrics, "cpu.computing_threads") <= 2 * cpus);
}

static bool have_spinning_pools(const struct pt_profile *profile, const struct pt_finding *finding)
{
    return pt_looking_for_work_s(profile, finding) >=
           LEAST_SPINNING * pt_finding_number(finding, &profile->metrics, "cpu.total_s");
}

/* Each library makes as many threads as there are CPUs: eight workers with eight of them each are 64 on eight CPUs.
 * Processes that follow each other do not compute at once. Threads that spin are taken off their CPUs by the kernel
 * alone: measured, four processes of two on two CPUs, 570 switches for each second of CPU time, of which 98 % spinning.
 */
static bool have_pools_each(const struct pt_profile *profile, const struct pt_finding *finding, double cpus)
{
    const struct pt_metrics *metrics = &profile->metrics;
    return (have_spinning_pools(profile, finding) || need_each_other(finding, metrics)) &&
           pt_finding_number(finding, metrics, "cpu.pools.count") >= 2 &&
           pt_finding_number(finding, metrics, "cpu.pools.threads") > 2 * cpus &&
           pt_finding_number(finding, metrics, "cpu.oversubscribed.at_once") > 2 * cpus;
}

/* How many of the processes with pools compute at once: those that follow each other share no CPU. */
static double pools_at_once(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    const double pools = pt_finding_number(finding, metrics, "cpu.pools.count");
    const double of_each = pt_finding_number(finding, metrics, "cpu.pools.threads") / pools;
    return fmin(pools, ceil(pt_finding_number(finding, metrics, "cpu.oversubscribed.at_once") / of_each));
}

/* With one thread in each, four processes would leave 12 of 16 CPUs idle, and five 3 of 8. But each thread that waits
 * for a CPU keeps the rest of its pool spinning: with two in each, two processes on three CPUs do no more than with
 * one. */
static double threads_of_each(const struct pt_profile *profile, const struct pt_finding *finding)
{
    const double cpus = pt_finding_number(finding, &profile->metrics, "cpus.usable");
    const double pools = pools_at_once(finding, &profile->metrics), threads = round(cpus / pools);
    const double wait_for_cpus = fmax(pools * threads - cpus, 0);
    const bool do_no_more = have_spinning_pools(profile, finding) && wait_for_cpus * threads >= pools;
    return fmax(1, do_no_more ? threads - 1 : threads);
}

/* Beside its workers a training needs threads of its own: they do not compute the same. */
static bool are_pools_of_workers(const struct pt_finding *finding, const struct pt_metrics *metrics)
{
    return pt_finding_number(finding, metrics, "training.workers.count") > 0 &&
           pt_finding_number(finding, metrics, "cpu.pools.count") >
               fmax(1, pt_finding_number_or_0(finding, metrics, "training.processes.at_once"));
}

static void say_that_each_has_a_pool(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage((pt_u32)stage);
    const double threads = threads_of_each(profile, finding);
    pt_metrics_set(metrics, scope, "cpu.pools.of_many_percent", pt_real(100));
    pt_metrics_set(metrics, scope, "cpu.pools.of_workers_percent",
                   pt_real(are_pools_of_workers(finding, metrics) ? 100 : 0));
    pt_metrics_set(metrics, scope, "cpu.pools.share", pt_real(threads));
    finding->title = "Several processes have many threads each: together far more than CPUs";
    finding->remedy =
        pt_metrics_format(metrics, "fewer threads in each of these processes (OMP_NUM_THREADS=%.0f)", threads);
    pt_finding_add_metrics(finding, metrics, "pooled_processes:cpu.pools.count pooled_threads:cpu.pools.threads");
}

/* With as many threads as are advised. */
static double cpus_that_compute(const struct pt_profile *profile, const struct pt_finding *finding, double cpus)
{
    const struct pt_metrics *metrics = &profile->metrics;
    return are_pools_of_workers(finding, metrics)
               ? cpus
               : fmin(cpus, pools_at_once(finding, metrics) * threads_of_each(profile, finding));
}

bool pt_rule_oversubscribed_threads(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const double cpus = pt_finding_number(finding, metrics, "cpus.usable");
    const bool is_one = has_too_many(finding, metrics, cpus) && need_each_other(finding, metrics);
    /* Queueing alone is no proof: another program may use the CPUs. */
    if (stage < 0 || !(is_one || have_pools_each(profile, finding, cpus)) ||
        !(pt_finding_number(finding, metrics, "cpu.oversubscribed.queue_share") > 1))
        return spins_for_others(finding, metrics);
    if (!is_one)
        say_that_each_has_a_pool(profile, stage, finding);
    finding->gain_upper_s = pt_finding_number(finding, metrics, "cpu.oversubscribed.cost_s");
    /* What it computes itself it also computes beside fewer; more slowly beside many, whose data push out its own. */
    if (has_spinning_pool(finding, metrics))
        finding->gain_upper_s =
            fmin(finding->gain_upper_s,
                 for_pool_s(finding, metrics) + SLOWED * pt_finding_number_or_0(finding, metrics, "time.native_s"));
    const double cpu_s = pt_finding_number(finding, metrics, "cpu.total_s");
    const double looking_s = pt_looking_for_work_s(profile, finding);
    const double yielding_s = pt_finding_number_or_0(finding, metrics, "cpu.yielding_s");
    if (yielding_s >= LEAST_SPINNING * cpu_s)
        finding->gain_upper_s = fmin(finding->gain_upper_s, (yielding_s + SLOWED * cpu_s) / cpus);
    else if (looking_s < LEAST_SPINNING * cpu_s || !is_one) /* what they compute remains */
        finding->gain_upper_s =
            fmin(finding->gain_upper_s, (double)pt_profile_stage_wall_ns(profile, (pt_u32)stage) / 1e9 -
                                            (1 - SLOWED) * fmax(cpu_s - (is_one ? 0 : looking_s), 0) /
                                                (is_one ? cpus : cpus_that_compute(profile, finding, cpus)));
    pt_finding_add_metrics(finding, metrics,
                           "threads:resource.threads.max computing_threads:cpu.computing_threads "
                           "processes:resource.processes.max cpus:cpus.usable "
                           "run_queue_s:cpu.run_queue_s cpu_s:cpu.total_s "
                           "involuntary_switches:resource.involuntary_switches.last");
    pt_finding_add_rows(finding, metrics, "cpu.functions", "self_s");
    return true;
}

/* The last stage before this one that left processes behind; NULL = none. */
static const struct pt_run_stage *left_before(const struct pt_profile *profile, pt_i64 stage)
{
    const struct pt_run_stage *own = stage < 0 ? NULL : pt_profile_run_of(profile, (pt_u32)stage), *left = NULL;
    for (pt_u32 i = 0; own && i < profile->run->n_stages && &profile->run->stages[i] != own; i++)
        left = profile->run->stages[i].n_left ? &profile->run->stages[i] : left;
    return left;
}

/* Each parallel operation ends when the last of its threads has had a CPU. Measured, steps of 1.4 ms of a small network
 * on two CPUs beside other programs: 100 to 360 s with two threads, 12 to 16 s with one. */
static void say_that_a_pool_shares_its_cpus(struct pt_finding *finding)
{
    finding->remedy = "OMP_NUM_THREADS=1 while it shares the CPUs, or measure on an idle machine";
    finding->advice =
        "Threads of a pool spun until the last of them had a CPU, which others used: while the stage shares its CPUs, "
        "give it fewer threads (OMP_NUM_THREADS=1, torch.set_num_threads(1)), or CPUs of its own (taskset, a cpuset, "
        "the pod's CPU request). Or measure again on an idle machine; top or pidstat names the others.";
}

bool pt_rule_noisy_neighbour(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_run_stage *left = left_before(profile, stage);
    const double cost_s = pt_finding_number(finding, metrics, "neighbours.cost_s");
    /* Less is what a machine in use always does. */
    if (stage < 0 || !(pt_finding_number(finding, metrics, "neighbours.cpu_percent") >= 10) ||
        !(cost_s * 1e9 >= 0.05 * (double)pt_profile_stage_wall_ns(profile, (pt_u32)stage)))
        return false;
    /* Nothing is done around a queue; what computes is slower beside others, which is less than what was waited for. */
    const double computing_s = pt_finding_number_or_0(finding, metrics, "time.native_s") +
                               pt_finding_number_or_0(finding, metrics, "time.python_s") -
                               pt_finding_number_or_0(finding, metrics, "cpu.spinning_main_s");
    finding->is_exact = true;
    finding->gain_upper_s = cost_s + fmin(QUEUE_COSTS * cost_s, SLOWED * fmax(computing_s, 0));
    finding->others = left ? NULL : "Other programs";
    pt_finding_add_metrics(finding, metrics,
                           "others_cpu_percent:neighbours.cpu_percent others_cpu_s:neighbours.cpu_s "
                           "machine_full_s:neighbours.full_s main_run_queue_s:time.runnable_s "
                           "run_queue_s:cpu.run_queue_s cpu_s:cpu.total_s cpus:cpus.usable "
                           "cpu_pressure_percent:resource.cpu_pressure_percent.mean");
    const double spinning_s = pt_finding_number_or_0(finding, metrics, "neighbours.spinning_s");
    if (spinning_s > 0)
        pt_finding_add_evidence(finding, "main_spinning_s", pt_real(spinning_s));
    if (spinning_s >= POOL_SHARE * cost_s)
        say_that_a_pool_shares_its_cpus(finding);
    if (left) {
        finding->title = "Processes of an earlier stage, or other programs, used the CPUs";
        finding->remedy = "let the earlier stage end what it starts, or wait for it";
        finding->advice =
            "Let the earlier stage end what it starts, or wait for it, if that is what computes (top says); else "
            "measure again on an idle machine, or give this stage CPUs of its own (taskset, a cpuset).";
        pt_finding_add_evidence(finding, "left_by", pt_text(left->name));
        pt_finding_add_evidence(finding, "left_processes", pt_integer(left->n_left));
        pt_finding_add_evidence(finding, "left_program", pt_text(left->left[0].command));
    }
    return true;
}

bool pt_rule_stolen_cpus(struct pt_profile *profile, pt_i64 stage, struct pt_finding *finding)
{
    const double cost_s = pt_finding_number(finding, &profile->metrics, "stolen.cost_s");
    /* Less is what a shared host always does. */
    if (stage < 0 || !(cost_s * 1e9 >= 0.05 * (double)pt_profile_stage_wall_ns(profile, (pt_u32)stage)) ||
        pt_finding_number(finding, &profile->metrics, "resource.machine_stolen_percent.mean") < 1)
        return false;
    finding->gain_upper_s = cost_s;
    finding->others = "The host of this virtual machine";
    pt_finding_add_metrics(finding, &profile->metrics,
                           "stolen_percent:resource.machine_stolen_percent.mean main_run_queue_s:time.runnable_s "
                           "cpu_s:cpu.total_s cpus:cpus.usable");
    return true;
}
