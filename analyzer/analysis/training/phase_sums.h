/* SPDX-License-Identifier: MIT
 *
 * phase_sums.h - the phases that are open on each thread, and what each phase cost: calls, total and self time.
 *
 * A phase within one of the same kind is a part of it: it is no call of its own. Zeroed = empty.
 */
#ifndef PT_ANALYSIS_TRAINING_PHASE_SUMS_H
#define PT_ANALYSIS_TRAINING_PHASE_SUMS_H

#include "analysis/analysis.h"
#include "decode/phase_names.h"
#include "times.h"

/* A phase of a thread, while it runs and when it ends. */
struct pt_phase_span {
    enum pt_phase kind;
    const char *name; /* what it is of; NULL = nothing */
    pt_u64 object;
    pt_u32 stack; /* where in Python it began; 0 = unknown */
    pt_i64 start_ns;
    pt_u32 depth;          /* phases that it is within */
    pt_i64 inner_ns;       /* of phases within it */
    pt_i64 inner_steps_ns; /* the same without functions that the user asked for: they are no part of a step */
    bool is_inner;         /* within one of the same kind */
    bool is_inner_of_name; /* and name */
    bool is_in_forward;
    /* At its end: */
    pt_i64 end_ns;
    pt_u64 amount, made; /* made: the object that it made */
    enum pt_phase_outcome outcome;
};

static inline pt_i64 pt_phase_ns(const struct pt_phase_span *phase)
{
    return phase->end_ns > phase->start_ns ? phase->end_ns - phase->start_ns : 0;
}

struct pt_phase_sum {
    pt_u64 calls;
    pt_i64 total_ns, self_ns;
};

struct pt_named_phase {
    pt_u32 stage;
    enum pt_phase kind;
    const char *name;
    struct pt_phase_sum sum;
    struct pt_times *durations; /* NULL = no call */
};

/* Of phases whose place is known. */
struct pt_phase_place {
    pt_u32 stage, stack;
    enum pt_phase kind;
    const struct pt_process *process;
    pt_i64 total_ns;
};

struct pt_phase_process {
    struct pt_phase_sum sums[PT_N_PHASES];
    pt_u32 n_threads[PT_N_PHASES]; /* that had it */
    /* Of the garbage collector, while modules were imported. */
    pt_i64 import_collector_ns;
    pt_u64 import_collections;
};

/* Checkpoints that a thread saved. What is saved with no step in between is one: a model, its optimizer, its
 * configuration. */
struct pt_saves {
    pt_u64 n;
    pt_i64 total_ns, longest_ns;
    pt_i64 file_meta_ns; /* in it: opening, closing and looking up files */
    pt_i64 last_ns;      /* of the last one so far */
    bool is_stepped;     /* a step was made since */
};

enum { PT_PHASES_DEEP = 64 };

struct pt_phase_thread {
    const struct pt_thread *thread;
    pt_u32 depth; /* also counts those deeper than PT_PHASES_DEEP */
    struct {
        PT_VEC(struct pt_phase_span); /* as many as were ever open at once: a run may have a hundred thousand threads */
    } open;
    pt_u32 had; /* 1 << kind */
    struct pt_saves saves;
    pt_u32 holes; /* that were passed */
    /* The last place of its own, and when. */
    pt_u32 stack;
    pt_i64 stack_ns;
};

struct pt_phase_sums {
    struct pt_phase_process **processes; /* by index; NULL = has no phases */
    pt_u32 n_processes;
    struct pt_times *
        *durations; /* by stage * PT_N_PHASES + kind; NULL = no call. They are too large for each process */
    pt_u32 n_stages;
    struct {
        PT_VEC(struct pt_named_phase);
    } named;
    struct pt_map by_name;
    struct {
        PT_VEC(struct pt_phase_place);
    } places;
    struct pt_intern names;
    struct {
        PT_VEC(struct pt_phase_thread *);
    } threads;
    struct pt_map by_thread;
};

void pt_phase_sums_init(struct pt_phase_sums *sums, const struct pt_profile *profile);
struct pt_phase_thread *pt_phase_thread_of(struct pt_phase_sums *sums, const struct pt_event *e);
/* Of a python_place. */
void pt_phase_place(struct pt_phase_thread *thread, const struct pt_event *e);
/* Of a phase_begin; NULL = too deep. Valid until the next one begins. */
const struct pt_phase_span *pt_phase_begin(struct pt_phase_sums *sums, struct pt_phase_thread *thread,
                                           const struct pt_event *e);
/* Ends the innermost one. `e`: a phase_end; NULL = its process ended, at `end_ns`. False = none is open, or it was too
 * deep. */
bool pt_phase_end(struct pt_phase_sums *sums, pt_u32 stage, struct pt_phase_thread *thread, const struct pt_event *e,
                  pt_i64 end_ns, struct pt_phase_span *ret_phase);
/* NULL = it had no phase yet. */
struct pt_phase_thread *pt_phase_thread_find(const struct pt_phase_sums *sums, const struct pt_thread *thread);
/* In a checkpoint that is saved. */
bool pt_phase_is_saving(const struct pt_phase_thread *thread);
void pt_phase_sums_fini(struct pt_phase_sums *sums);

#endif
