/* SPDX-License-Identifier: MIT
 *
 * analysis.h - one pass over the events of a run, many analyses.
 *
 * An analysis is a file that defines `const struct pt_analysis pt_analysis_<name>` and a row in analyses.def. Its state
 * is zeroed memory of state_size bytes. begin() may look at the session; event() is called for each event of its
 * categories, in the order of time; finish() stores metrics and tables and frees what the state holds. An analysis
 * bounds its state, whatever the length of the trace, and allocates nothing per event.
 */
#ifndef PT_ANALYSIS_ANALYSIS_H
#define PT_ANALYSIS_ANALYSIS_H

#include "decode/event.h"
#include "model/run_info.h"
#include "model/session.h"
#include "cpu_threads.h"
#include "cpu_view.h"
#include "metrics.h"
#include "stages.h"

/* A run, and what is known about it: the whole of what rules and reports look at. */
struct pt_profile {
    struct pt_session *session;
    const struct pt_run_info *run; /* NULL = no launcher */
    struct pt_stages stages;
    struct pt_cpu_threads *cpu;            /* by stage: the launcher's CPU profile, read by the analysis cpu */
    struct pt_cpu_view *cpu_views;         /* the same with names */
    const struct account_moments *moments; /* by stage: which of it lies in recorded calls; the analysis account's,
                                              which sees all events before any finishes. NULL = it has finished */
    struct pt_metrics metrics;
    pt_u64 n_events; /* that the analyses saw */
};

struct pt_analysis {
    const char *name;
    const char *summary;
    pt_u32 categories; /* PT_CATEGORY_ bits */
    size_t state_size;
    void (*begin)(void *state, struct pt_profile *profile); /* NULL = nothing to prepare */
    void (*event)(void *state, const struct pt_event *event);
    bool is_apart; /* events may be given to it in a thread beside those of the others: it shares nothing with them that
                      changes meanwhile, and uses neither metrics nor paths before finish */
    void (*finish)(void *state, struct pt_profile *profile);
};

#define ANALYSIS(name) extern const struct pt_analysis pt_analysis_##name;
#include "analyses.def"
#undef ANALYSIS

/* All analyses, closed by NULL. */
extern const struct pt_analysis *const pt_analyses[];

/* Run all analyses over all events of profile->session; the rest of `profile` but `run` is zeroed before the call and
 * must be freed whatever the result. Session and run stay the caller's. */
int pt_analyze(struct pt_profile *profile, struct pt_error *err);
void pt_profile_free(struct pt_profile *profile);

static inline pt_u32 pt_profile_stage_of(const struct pt_profile *profile, const struct pt_process *process)
{
    return profile->stages.of_process[process->index];
}

/* Why nobody knows what a stage's processes did: the counters of one lay in the part of its file that is missing. NULL
 * = they were there. */
const char *pt_profile_counters_missing(const struct pt_profile *profile, pt_u32 stage);
/* "io-thread (thread 123)", or "thread 123" where nobody saw its name. */
const char *pt_thread_label(struct pt_profile *profile, pt_u32 stage, const struct pt_thread *thread);
/* What the launcher knows about a stage; NULL when it ran another one or there was none. */
const struct pt_run_stage *pt_profile_run_of(const struct pt_profile *profile, pt_u32 stage);
/* Sum of a row over the processes of a stage: exact, also when events were overwritten. */
struct pt_row_totals pt_profile_stage_row(const struct pt_profile *profile, pt_u32 stage, pt_u32 row);
/* Wall time of a stage: as the launcher measured it, else from the start of its first process to the end of its last;
 * 0 when it never began. */
pt_i64 pt_profile_stage_wall_ns(const struct pt_profile *profile, pt_u32 stage);
/* Why a wall time of 0 is none. */
extern const char pt_no_end_noted[];
/* Wall time of the run. */
pt_i64 pt_profile_wall_ns(const struct pt_profile *profile);

#endif
