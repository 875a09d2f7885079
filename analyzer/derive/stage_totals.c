/* SPDX-License-Identifier: MIT
 *
 * CPU time and memory of each stage, from the launcher's samples, else from what the library noted; and how complete
 * the capture is.
 *
 * Threads: one. State: none: everything is in the totals. Never: estimates what was not measured; accepts more CPU time
 * than the machine has, with which a damaged record would be the headline of the report.
 */
#include "proftrace/events.h"
#include "derive.h"

#include <math.h>

#include "facts/call_class.h"
#include "facts/state.h"
#include "model/window.h"
#include "util/whole.h"

/* ---- resources ---- */

/* Kernel ticks are 10 ms: a short time may seem to have up to two more per CPU. */
static struct pt_value plausible(const struct pt_profile *profile, double percent, double over_s)
{
    const double most = 100 * pt_profile_most_cpus(profile) * (1.05 + 0.02 / (over_s > 0.001 ? over_s : 0.001));
    if (percent >= 0 && percent <= most)
        return pt_real(percent);
    return pt_unknown("the record is damaged: more CPU time than the machine has");
}

/* What the processes of a stage noted themselves. */
struct noted {
    double cpu_ns, recorded_ns;
    double unheard_ns;   /* what those that were killed may have used besides */
    const char *unknown; /* why that is not all; NULL = it is */
    pt_u64 rss_bytes;
};

static struct noted noted_of(const struct pt_profile *profile, pt_u32 stage)
{
    struct noted noted = {0};
    if (!profile->stages.items[stage].n_processes)
        noted.unknown = "a process ended before it noted its CPU time";
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        const struct pt_image_use use = pt_image_use(profile->facts, process);
        if (isnan(use.cpu_ns))
            noted.unknown = "a process ended before it noted its CPU time";
        noted.cpu_ns += isnan(use.cpu_ns) ? 0 : use.cpu_ns;
        noted.unheard_ns += use.unheard_ns;
        noted.recorded_ns += isnan(use.recorded_cpu_ns) ? 0 : use.recorded_cpu_ns;
        if (process->max_rss_bytes > noted.rss_bytes)
            noted.rss_bytes = process->max_rss_bytes;
    }
    /* Compared with all of the stage: beside a long training it matters little what one killed helper used. */
    if (!noted.unknown && pt_may_be_much_more(noted.unheard_ns, noted.cpu_ns))
        noted.unknown = "a process was killed, or runs still, and noted its CPU time long before";
    if (pt_session_is_window(profile->session)) {
        noted.unknown = pt_window_no_counters;
        noted.cpu_ns = 0;
    }
    return noted;
}

/* Returns the CPU time that the processes noted themselves. */
static double set_resources_from_library(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct noted noted = noted_of(profile, stage);
    const bool is_window = pt_session_is_window(profile->session);
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
    struct pt_value cpu_s = noted.unknown ? pt_unknown(noted.unknown) : pt_real(noted.cpu_ns / 1e9);
    struct pt_value percent = noted.unknown ? cpu_s
                              : wall_s > 0  ? plausible(profile, 100 * noted.recorded_ns / 1e9 / wall_s, wall_s)
                                            : pt_unknown("the stage took no time");
    if (wall_s > 0 && percent.type == PT_VALUE_UNKNOWN)
        cpu_s = percent;
    pt_metrics_set(metrics, scope, "cpu.total_s", cpu_s);
    pt_metrics_set(metrics, scope, "cpu.avg_percent", percent);
    pt_metrics_set(metrics, scope, "cpu.max_percent", pt_unknown(pt_profile_why_not_sampled(profile, stage)));
    pt_metrics_set(metrics, scope, "rss.max_bytes",
                   noted.rss_bytes ? pt_integer(noted.rss_bytes)
                                   : pt_unknown(is_window ? pt_window_no_counters : "no process noted its memory"));
    pt_metrics_set(metrics, scope, "rss.max_of", pt_text("largest process"));
    return noted.cpu_ns / 1e9;
}

/* Where a program ignores SIGCHLD the kernel adds no child's time to its parent's: what wait4() tells of a server that
 * forks for each client lacks them all, but they noted it themselves. */
static double true_cpu_s(double waited_for_s, double noted_s)
{
    return noted_s > 1.02 * waited_for_s + 0.01 ? noted_s : waited_for_s;
}

static void set_resources_from_launcher(struct pt_profile *profile, pt_u32 stage, const struct pt_run_stage *run,
                                        double noted_s)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const char *too_short = run->is_running ? "no sample has been noted yet"
                            : !run->status  ? pt_profile_why_not_sampled(profile, stage)
                                            : "the command ended before the first sample";
    const double wall_s = (double)pt_profile_stage_wall_ns(profile, stage) / 1e9;
    const double interval_s = profile->run->interval_ns / 1e9;
    const double cpu_s = true_cpu_s(run->cpu_s, noted_s), average = run->cpu_percent_avg;
    const double of_wall_percent = 100 * cpu_s / (wall_s > 0 ? wall_s : 1e-3);
    if (!isnan(cpu_s)) {
        const struct pt_value percent = plausible(profile, of_wall_percent, wall_s);
        pt_metrics_set(metrics, scope, "cpu.total_s", percent.type == PT_VALUE_UNKNOWN ? percent : pt_real(cpu_s));
    }
    if (!isnan(average))
        pt_metrics_set(metrics, scope, "cpu.avg_percent",
                       plausible(profile, cpu_s > run->cpu_s ? of_wall_percent : average, wall_s));
    pt_metrics_set(metrics, scope, "cpu.max_percent",
                   isnan(run->cpu_percent_max) ? pt_unknown(too_short)
                                               : plausible(profile, run->cpu_percent_max, interval_s));
    if (run->rss_max_bytes > 0) {
        pt_metrics_set(metrics, scope, "rss.max_bytes", pt_integer(pt_whole(run->rss_max_bytes)));
        pt_metrics_set(metrics, scope, "rss.max_of", pt_text("sum over the process tree"));
    }
}

/* A process that was killed, or runs still, noted its time some while before: without a profile of it, it may have been
 * at work in all of its life since. */
static double most_cpu_ns(const struct pt_facts *facts, const struct pt_process *process, double noted_ns)
{
    const struct pt_thread *main_one = pt_main_thread(process);
    if (process->state != PT_PROCESS_LIVE || (main_one && pt_facts_cpu_thread(facts, main_one)))
        return noted_ns;
    const pt_i64 end_ns = pt_process_end_is_open(process) ? process->gone_ns : process->end_ns;
    return fmax(noted_ns, (double)(end_ns - process->start_ns) * (process->n_threads ? process->n_threads : 1));
}

/* The CPU time of all processes with a trace: what is known of it, and what it can be at most. */
static void set_traced_cpu(struct pt_profile *profile, pt_u32 stage)
{
    const bool is_window = pt_session_is_window(profile->session);
    double known_ns = 0, most_ns = 0;
    for (pt_u32 i = 0; i < profile->session->n_processes && !is_window; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        const double cpu_ns = pt_image_use(profile->facts, process).cpu_ns, noted_ns = isnan(cpu_ns) ? 0 : cpu_ns;
        known_ns += noted_ns;
        most_ns += most_cpu_ns(profile->facts, process, noted_ns);
    }
    const struct pt_value unknown = pt_unknown(pt_window_no_counters);
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "cpu.traced_s",
                   is_window ? unknown : pt_real(known_ns / 1e9));
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), "cpu.traced_most_s",
                   is_window ? unknown : pt_real(most_ns / 1e9));
}

static void set_resources(struct pt_profile *profile, pt_u32 stage)
{
    static const char *const metrics[] = {"cpu.total_s", "cpu.avg_percent", "cpu.max_percent", "rss.max_bytes"};
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const bool skipped = pt_stage_was_skipped(&profile->stages.items[stage]);
    const double noted_s = skipped ? 0 : set_resources_from_library(profile, stage);
    for (size_t i = 0; skipped && i < sizeof metrics / sizeof *metrics; i++)
        pt_metrics_set(&profile->metrics, pt_scope_stage(stage), metrics[i], pt_unknown("the stage was skipped"));
    if (run && !skipped)
        set_resources_from_launcher(profile, stage, run, noted_s);
}

/* What was recorded at all: an empty capture is a finding. */
static void set_capture(struct pt_profile *profile, pt_u32 stage)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_u64 calls = 0, allocs = 0, events = 0, lost = 0, untraced = 0;
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
            calls += pt_call_class_of(kind) == PT_CALL_NONE ? 0 : pt_totals_of(process->totals, kind)->calls;
        allocs += process->heap->allocs;
        events += process->quality.events;
        lost += process->quality.overwritten + process->quality.dropped;
        lost += process->quality.truncated ? 0 : process->quality.corrupt_events;
        untraced += process->n_untraced;
    }
    pt_metrics_set(metrics, scope, "capture.calls", pt_integer(calls));
    /* A program that only computes may well have allocated: in a window nobody knows. */
    pt_metrics_set(metrics, scope, "capture.total",
                   calls || !pt_session_is_window(profile->session) ? pt_integer(calls + allocs)
                                                                    : pt_unknown(pt_window_no_counters));
    pt_metrics_set(metrics, scope, "capture.events", pt_integer(events));
    pt_metrics_set(metrics, scope, "capture.lost.events",
                   lost && pt_session_is_window(profile->session) ? pt_unknown(pt_window_no_losses) : pt_integer(lost));
    pt_metrics_set(metrics, scope, "capture.untraced", pt_integer(untraced));
}

void pt_derive_stage_totals(struct pt_profile *profile)
{
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        set_resources(profile, stage);
        set_traced_cpu(profile, stage);
        set_capture(profile, stage);
    }
}
