/* SPDX-License-Identifier: MIT
 *
 * Owns: figures of a run that many analyses need. Threads: any, once the session is open. Never: computes what an
 * analysis finds.
 */
#include "profile.h"

#include <math.h>

#include "model/window.h"

const char *pt_profile_counters_missing(const struct pt_profile *profile, pt_u32 stage)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) == stage && pt_process_lacks_counters(process))
            return "a trace file is cut short: its counters are missing";
    }
    return NULL;
}

struct pt_kind_totals pt_profile_stage_totals(const struct pt_profile *profile, pt_u32 stage, pt_u32 kind)
{
    struct pt_kind_totals sum = {0};
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        if (pt_profile_stage_of(profile, process) != stage)
            continue;
        pt_kind_totals_add(&sum, pt_totals_of(process->totals, kind));
    }
    return sum;
}

double pt_stage_number(const struct pt_profile *profile, pt_u32 stage, const char *metric)
{
    const struct pt_value value = pt_metrics_get(&profile->metrics, pt_scope_stage(stage), metric);
    return value.type == PT_VALUE_UNKNOWN ? NAN : pt_value_number(value);
}

double pt_stage_number_or_0(const struct pt_profile *profile, pt_u32 stage, const char *metric)
{
    const double number = pt_stage_number(profile, stage, metric);
    return isnan(number) ? 0 : number;
}

void pt_stage_set_number(struct pt_profile *profile, pt_u32 stage, const char *metric, double number,
                         const char *reason)
{
    pt_metrics_set(&profile->metrics, pt_scope_stage(stage), metric,
                   isnan(number) ? pt_unknown(reason) : pt_real(number));
}

double pt_profile_usable_cpus(const struct pt_profile *profile)
{
    const struct pt_run_info *run = profile->run;
    return !run ? NAN : run->cpus_usable >= 1 ? fmin(run->cpus_usable, run->cpus) : run->cpus;
}

double pt_profile_most_cpus(const struct pt_profile *profile)
{
    const double have = profile->run ? profile->run->cpus : NAN;
    return have >= 1 && have <= PT_RUN_MOST_CPUS ? have : PT_RUN_MOST_CPUS;
}

const struct pt_run_stage *pt_profile_run_of(const struct pt_profile *profile, pt_u32 stage)
{
    return profile->stages.items[stage].run;
}

const char pt_end_unknown_reason[] = "no process noted when it ended, and no launcher watched";

const char *pt_profile_why_not_sampled(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    if (pt_session_is_window(profile->session))
        return pt_window_no_counters;
    if (!profile->run && profile->session->why_no_run)
        return profile->session->why_no_run;
    return !run              ? "needs the launcher's sampling: start the command with proftrace run"
           : run->is_running ? "not known yet: the stage still runs"
           : !run->status    ? "the launcher ended before it had noted a sample"
                             : "the launcher took no sample of it";
}

const char *pt_profile_why_no_cpu_profile(const struct pt_profile *profile, pt_u32 stage)
{
    return profile->run || profile->session->why_no_run ? pt_profile_why_not_sampled(profile, stage)
                                                        : "needs the CPU profile of proftrace run";
}

pt_i64 pt_profile_stage_wall_ns(const struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(profile, stage);
    const pt_i64 seen_ns = profile->stages.items[stage].end_ns - profile->stages.items[stage].start_ns;
    if (!run || !(run->duration_ns > 0))
        return seen_ns;
    /* The launcher was killed: what it wrote last may have been at the start of the stage. */
    const bool is_open = !run->status && !run->is_running;
    return is_open && (double)seen_ns > run->duration_ns ? seen_ns : (pt_i64)run->duration_ns;
}

pt_i64 pt_profile_wall_ns(const struct pt_profile *profile)
{
    const struct pt_run_info *run = profile->run;
    if (pt_session_is_window(profile->session))
        return profile->session->duration_ns - profile->session->window_from_ns;
    if (run && run->duration_ns > 0)
        return (pt_i64)run->duration_ns;
    /* The launcher was killed: as far as it, or a trace, tells. */
    pt_i64 known_ns = profile->session->duration_ns;
    for (pt_u32 i = 0; run && i < run->n_stages; i++) {
        const double end_ns = run->stages[i].start_ns + run->stages[i].duration_ns; /* NAN = it did not begin */
        if (end_ns > (double)known_ns)
            known_ns = (pt_i64)fmin(end_ns, 9e18);
    }
    return known_ns;
}
