/* SPDX-License-Identifier: MIT
 *
 * profile.h - a run and what is known about it: its processes, its stages, and the metrics that analyses add.
 */
#ifndef PT_PROFILE_PROFILE_H
#define PT_PROFILE_PROFILE_H

#include "model/session.h"
#include "run_file/run_file.h"
#include "metrics.h"
#include "stacks.h"
#include "stages.h"

struct pt_facts;

/* A run, and what is known about it: all that rules and reports read. */
struct pt_profile {
    struct pt_session *session;
    const struct pt_run_info *run; /* NULL = no launcher */
    struct pt_stages stages;
    struct pt_facts *facts; /* facts/facts.h: what analyses ask about threads and calls; NULL = before the pass */
    struct pt_metrics metrics;
    struct pt_stacks stacks;
    pt_u64 n_events; /* that the analyses saw */
};

static inline pt_u32 pt_profile_stage_of(const struct pt_profile *profile, const struct pt_process *process)
{
    return profile->stages.of_process[process->index];
}

/* Why the counters of a stage are unknown: those of one of its processes were in the missing end of its file. NULL =
 * they are complete. */
const char *pt_profile_counters_missing(const struct pt_profile *profile, pt_u32 stage);
/* What the launcher knows about a stage; NULL when it ran another one or there was none. */
const struct pt_run_stage *pt_profile_run_of(const struct pt_profile *profile, pt_u32 stage);
/* Sum of a kind over the processes of a stage: exact, also when events were overwritten. */
struct pt_kind_totals pt_profile_stage_totals(const struct pt_profile *profile, pt_u32 stage, pt_u32 kind);
/* A metric of a stage; NAN = unknown: no comparison with it holds. */
double pt_stage_number(const struct pt_profile *profile, pt_u32 stage, const char *metric);
/* The same; 0 = unknown: for sums of what is known. */
double pt_stage_number_or_0(const struct pt_profile *profile, pt_u32 stage, const char *metric);
/* NAN becomes unknown, for that reason. */
void pt_stage_set_number(struct pt_profile *profile, pt_u32 stage, const char *metric, double number,
                         const char *reason);
/* How many CPUs the job could use at once: those of the machine within its affinity and quotas. NAN = unknown. */
double pt_profile_usable_cpus(const struct pt_profile *profile);
/* What no record can exceed: the CPUs of the machine; where they are unknown, those of the largest one. */
double pt_profile_most_cpus(const struct pt_profile *profile);
/* Wall time of a stage: as the launcher measured it, else from the start of its first process to the end of its last;
 * 0 when it never began. */
pt_i64 pt_profile_stage_wall_ns(const struct pt_profile *profile, pt_u32 stage);
/* Why a wall time of 0 is none. */
extern const char pt_end_unknown_reason[];
/* Why nothing is known that the launcher's samples, or its CPU profile, would tell: nobody took them, or not yet. */
const char *pt_profile_why_not_sampled(const struct pt_profile *profile, pt_u32 stage);
const char *pt_profile_why_no_cpu_profile(const struct pt_profile *profile, pt_u32 stage);
/* Wall time of the run. */
pt_i64 pt_profile_wall_ns(const struct pt_profile *profile);

#endif
