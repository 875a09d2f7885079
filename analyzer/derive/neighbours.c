/* SPDX-License-Identifier: MIT
 *
 * What other programs took of the machine while the stage queued for CPUs: noisy neighbours; and what other machines
 * took of its CPUs. From the launcher's samples: the whole machine's CPU time less that of the stage's processes, of
 * the launcher's profiler, and of the hypervisor.
 *
 * Threads: one. State: none. Never: blames other programs for a queue of the stage's own threads: only intervals in
 * which all CPUs were busy count, and no more than the time that others computed in them.
 */
#include "derive.h"

#include <math.h>

#include "facts/wait_kind.h"
#include "intervals.h"

static const char not_sampled[] = "was not sampled";

/* Below, a CPU was free: a thread in a run queue was then kept from it by a quota, by its own affinity, or only for
 * an instant. */
#define FULL_PERCENT 80

struct busy {
    double sampled_s, full_s;
    double others_cpu_s;  /* while the machine was full */
    double other_queue_s; /* what the stage queued while it was not */
};

/* Sums over the samples. Not clipped one by one: the machine's ticks are coarser than the stage's clocks. */
static struct busy busy_of(const struct pt_run_stage *run, double cpus)
{
    struct busy busy = {0};
    struct pt_sample_interval at = {0};
    while (pt_next_interval(run, &at)) {
        busy.sampled_s += at.length_s;
        if (at.machine_percent >= FULL_PERCENT) {
            busy.full_s += at.length_s;
            busy.others_cpu_s +=
                ((at.machine_percent - at.stolen_percent) * cpus - at.stage_percent) / 100 * at.length_s;
        } else if (at.queued_s > 0) {
            busy.other_queue_s += at.queued_s;
        }
    }
    return busy;
}

/* Of what was waited for, how long it did nothing else than compute or queue, or was not traced: not the time in which
 * it slept or read files. */
static double waits_that_may_queue_s(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_table *waits = pt_view_table(&profile->metrics, stage, PT_VIEW_waits);
    double sum_s = pt_stage_number_or_0(profile, stage, "time.child_wait_s") +
                   pt_stage_number_or_0(profile, stage, "time.data_wait_s") +
                   pt_stage_number_or_0(profile, stage, "time.lock_s") +
                   pt_stage_number_or_0(profile, stage, "time.workers_s");
    for (size_t row = 0; waits && row < waits->n_rows; row++) {
        /* Later steps are part of the first, whoever answers on the network is not in the sum. */
        if (pt_table_number(waits, row, "step") > 1 || pt_table_number(waits, row, "part") == PT_PART_network)
            continue;
        sum_s -= pt_table_number(waits, row, "total_s") - pt_table_number(waits, row, "python_s") -
                 pt_table_number(waits, row, "native_s") - pt_table_number(waits, row, "runnable_s") -
                 pt_table_number(waits, row, "unattributed_s");
    }
    return fmax(sum_s, 0);
}

/* What the critical thread queued itself, and what those that it waited for may have: of threads that queue at once
 * only one is on its way. */
static double critical_queue_s(const struct pt_profile *profile, pt_u32 stage, const struct busy *busy, double wall_s)
{
    const double main_s = pt_stage_number_or_0(profile, stage, "time.runnable_s");
    const double waits_s = waits_that_may_queue_s(profile, stage);
    const double queue_s = pt_stage_number(profile, stage, "cpu.run_queue_s");
    const double at_once = (queue_s + pt_stage_number(profile, stage, "cpu.total_s")) / wall_s;
    const double others_s = fmax(queue_s - main_s, 0) / fmax(at_once, 1);
    const bool has_main = !isnan(pt_stage_number(profile, stage, "time.runnable_s"));
    return fmin(has_main ? main_s + fmin(waits_s, others_s) : others_s, queue_s - busy->other_queue_s);
}

static void set_neighbours(struct pt_profile *profile, pt_u32 stage, const struct pt_run_stage *run, double wall_s)
{
    const double cpus = profile->run->cpus;
    struct busy busy = busy_of(run, cpus);
    if (!(busy.sampled_s > 0) || isnan(cpus))
        busy = (struct busy){NAN, NAN, NAN, NAN};
    /* Our own profiler uses CPU time, too. */
    busy.others_cpu_s = busy.others_cpu_s - pt_stage_number_or_0(profile, stage, "cpu.sampling_s");
    if (busy.others_cpu_s < 0)
        busy.others_cpu_s = 0;
    const double share = busy.full_s > 0 ? 100 * busy.others_cpu_s / (cpus * busy.full_s) : busy.full_s;
    /* A group that has used up its quota also queues, whatever others compute. */
    const double throttled_s = pt_stage_number_or_0(profile, stage, "resource.cpu_throttled_s.last");
    const double others = pt_stage_number(profile, stage, "queue.others_percent");
    const double queue_s =
        fmax(critical_queue_s(profile, stage, &busy, wall_s) - throttled_s, 0) * (isnan(others) ? 1 : others / 100);
    /* Threads of a pool spin until the others have come, which others keep from the CPUs: that is no work either. */
    const double spinning_s =
        isnan(others) ? 0 : others / 100 * pt_stage_number_or_0(profile, stage, "cpu.spinning_main_s");
    pt_stage_set_number(profile, stage, "neighbours.cpu_s", busy.others_cpu_s, not_sampled);
    pt_stage_set_number(profile, stage, "neighbours.cpu_percent", share, not_sampled);
    pt_stage_set_number(profile, stage, "neighbours.full_s", busy.full_s, not_sampled);
    /* After the last sample they are assumed to go on as before. */
    const double others_s = busy.others_cpu_s * fmax(wall_s / busy.sampled_s, 1);
    const double cost_s = fmin(queue_s + spinning_s, others_s);
    pt_stage_set_number(profile, stage, "neighbours.cost_s", isnan(share) ? share : cost_s, not_sampled);
    pt_stage_set_number(profile, stage, "neighbours.spinning_s", isnan(share) ? share : fmax(cost_s - queue_s, 0),
                        not_sampled);
}

/* A hypervisor takes CPUs that are at work: each of them loses the same part, on average, and none more than was taken
 * in all. What the main thread lost counts as waiting for a CPU, where that is known; those that it waited for lost it,
 * too. A group that has used up its quota also waits for a CPU. */
static void set_stolen(struct pt_profile *profile, pt_u32 stage, double wall_s)
{
    const double stolen_percent = pt_stage_number(profile, stage, "resource.machine_stolen_percent.mean");
    const double busy_percent = pt_stage_number(profile, stage, "resource.machine_cpu_percent.mean");
    const double runnable_s = pt_stage_number(profile, stage, "time.runnable_s");
    const double all_s = stolen_percent / 100 * profile->run->cpus * wall_s;
    const double part = busy_percent > stolen_percent ? stolen_percent / busy_percent : 1;
    const double throttled_s = pt_stage_number_or_0(profile, stage, "resource.cpu_throttled_s.last");
    const double lost_s = fmax(runnable_s - throttled_s, 0) + part * waits_that_may_queue_s(profile, stage);
    const double cost_s = fmin(part * wall_s, isnan(runnable_s) ? wall_s : lost_s);
    pt_stage_set_number(profile, stage, "stolen.cost_s", isnan(all_s) ? all_s : fmin(all_s, cost_s), not_sampled);
}

void pt_derive_neighbours(struct pt_profile *profile)
{
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
        const struct pt_run_stage *run = profile->stages.items[stage].run;
        if (!run || wall_s <= 0)
            continue;
        set_neighbours(profile, stage, run, wall_s);
        set_stolen(profile, stage, wall_s);
    }
}
