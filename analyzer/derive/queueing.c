/* SPDX-License-Identifier: MIT
 *
 * Who took the CPUs that a stage queued for, itself or other programs; and how much longer the main thread's own work
 * took because it had to queue. Every rule asks here.
 *
 * Threads: one. State: none. Never: blames others for a queue that the stage would have had alone, or for more time
 * than they computed.
 */
#include "derive.h"

#include <math.h>

#include "facts/wait_kind.h"
#include "intervals.h"

static const char not_sampled[] = "was not sampled";
static const char no_queue[] = "nothing queued for a CPU";

/* ---- whose the queue is ---- */

struct queue {
    double all_s, own_s; /* what the stage queued; what of it as many threads would have without the others */
    double others_cpu_s;
};

/* In an interval as many threads could run as ran and queued. */
static struct queue queue_of(const struct pt_profile *profile, const struct pt_run_stage *run)
{
    const double cpus = pt_profile_usable_cpus(profile);
    struct queue queue = {0};
    struct pt_sample_interval at = {0};
    while (pt_next_interval(run, &at)) {
        const double ran_s = at.stage_percent / 100 * at.length_s, queue_s = fmax(at.queued_s, 0);
        queue.all_s += queue_s;
        queue.own_s += fmin(fmax(ran_s + queue_s - cpus * at.length_s, 0), queue_s);
        queue.others_cpu_s += fmax(at.machine_percent / 100 * profile->run->cpus * at.length_s - ran_s, 0);
    }
    return queue;
}

/* Threads that end between two samples take their count with them; the kernel's records of switches have them all. That
 * queue is of the whole stage, as one interval. */
static struct queue with_unsampled(struct queue queue, const struct pt_profile *profile, pt_u32 stage)
{
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
    const double unsampled_s = fmax(pt_stage_number_or_0(profile, stage, "cpu.queued_s") - queue.all_s, 0);
    const double could_run_s = pt_stage_number_or_0(profile, stage, "cpu.total_s") + unsampled_s;
    queue.all_s += unsampled_s;
    queue.own_s += fmin(fmax(could_run_s - pt_profile_usable_cpus(profile) * wall_s, 0), unsampled_s);
    return queue;
}

static double others_percent(const struct pt_profile *profile, pt_u32 stage, const struct pt_run_stage *run)
{
    const struct queue queue = with_unsampled(queue_of(profile, run), profile, stage);
    const double others_s = queue.others_cpu_s - pt_stage_number_or_0(profile, stage, "cpu.sampling_s");
    return queue.all_s > 0 ? 100 * fmin(fmax(others_s, 0), queue.all_s - queue.own_s) / queue.all_s : NAN;
}

/* ---- what queueing did to the main thread's own work ---- */

/* Work that uses the CPU queues for it, within its calls and around them. What is timed around a call has the first
 * already. */
static double stretch_of(const struct pt_profile *profile, pt_u32 stage, enum pt_time_part part)
{
    const struct pt_time_part_row *row = &pt_time_parts[part];
    const double queued_s = pt_stage_number(profile, stage, "time.runnable_s");
    const double on_s = pt_stage_number(profile, stage, "cpu.main_on_s");
    if (!(on_s > 0) || !(queued_s > 0))
        return 1;
    if (pt_part_is_computing(part))
        return 1 + queued_s / on_s;
    const double in_calls_s = pt_stage_number_or_0(profile, stage, row->preempted_metric);
    const double took_s = pt_stage_number_or_0(profile, stage, row->metric) + in_calls_s;
    const double more_s = queued_s * pt_stage_number_or_0(profile, stage, row->on_cpu_metric) / on_s - in_calls_s;
    return took_s > 0 ? 1 + fmax(more_s, 0) / took_s : 1;
}

void pt_derive_queueing(struct pt_profile *profile)
{
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        const struct pt_run_stage *run = profile->stages.items[stage].run;
        if (!run)
            continue;
        pt_stage_set_number(profile, stage, "queue.others_percent", others_percent(profile, stage, run),
                            pt_stage_number_or_0(profile, stage, "resource.run_queue_s.last") > 0 ? not_sampled
                                                                                                  : no_queue);
        for (int part = 0; part < PT_PART__COUNT; part++)
            if (pt_part_is_computing((enum pt_time_part)part) || pt_part_is_of_files((enum pt_time_part)part))
                pt_stage_set_number(profile, stage, pt_time_parts[part].stretch_metric,
                                    stretch_of(profile, stage, (enum pt_time_part)part), not_sampled);
    }
}
