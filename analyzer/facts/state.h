/* SPDX-License-Identifier: MIT
 *
 * facts/state.h - what several analyses ask about the events of a run, found once per event: the thread of an id, what
 * each thread did recently, its blockers, and its CPU profile.
 *
 * The pass gives each event to pt_facts_event() before the analyses that say `asks_facts` see it, in the same thread:
 * they may read facts while it is the current one, and after the last one. Other analyses run in a second thread and
 * read no facts.
 */
#ifndef PT_FACTS_STATE_H
#define PT_FACTS_STATE_H

#include "profile/profile.h"
#include "channels.h"
#include "cpu_time/kernel_counts.h"
#include "cpu_profiles.h"
#include "lock_handoffs.h"
#include "network/ends.h"
#include "python/places.h"
#include "thread_ids.h"
#include "thread_timeline.h"

/* What an event loop's last wait was for, known from the call after it. */
struct pt_loop_answer {
    bool is_taken;       /* the call took what ended the wait */
    bool is_known;       /* and that was nothing for which a loop is idle */
    struct pt_span wait; /* with its true part and blocker */
    double own_ns;       /* of it, without the calls in it */
};

struct pt_event_loops {
    struct pt_loop {
        struct pt_span wait; /* end_ns 0 = none, or it is known already */
        double own_ns;
        bool for_signals;
    } * threads; /* by number: the last wait */
};

struct pt_critical_paths;
struct pt_path_times;

struct pt_facts {
    struct pt_profile *profile;
    struct pt_thread_ids ids;
    struct pt_channels channels;
    struct pt_lock_queues queues;
    struct pt_thread_timelines timelines;
    struct pt_event_loops loops;
    struct pt_connection_ends ends;
    struct pt_cpu_profiles cpu;
    struct pt_thread_waits {
        pt_u64 gil_ns;
        pt_u64 for_work_ns, n_for_work; /* for data, conditions, semaphores, joins, clients */
    } * waits;                          /* of all of its life, by number of a thread */
    struct pt_kernel_counts counts;
    struct pt_python_places places;
    struct pt_symbols *symbols;      /* of all stages: libraries are many megabytes, and each is looked into once */
    struct pt_cpu_view *views;       /* by stage: its CPU profile with names; empty where it has none */
    struct pt_critical_paths *paths; /* by stage: whose main thread is the critical one, over time */
    struct pt_path_times *path_times;
    bool *have_workers; /* by index of a process */
    struct {
        struct pt_span span;
        pt_i64 own_ns;       /* without the calls in it, and without what it was preempted for */
        pt_i64 preempted_ns; /* of it, and of no call that it contains */
        struct pt_loop_answer loop;
        struct pt_lock_share shares[PT_LOCK_HANDOFFS]; /* of a wait for a lock: its holders, in the order of time */
        pt_u32 n_shares;
    } call; /* the current event, where it is a call */
};

static inline const struct pt_thread_timeline *pt_facts_timeline(const struct pt_facts *facts,
                                                                 const struct pt_thread *thread)
{
    return &facts->timelines.threads[pt_thread_number(&facts->ids, thread)];
}
/* The CPU profile of a stage; without data: it has none. */
static inline const struct pt_cpu_timeline *pt_facts_cpu(const struct pt_facts *facts, pt_u32 stage)
{
    return &facts->cpu.timelines[stage];
}
/* The number of a thread in the CPU profile of its stage; 0 = it is not there. */
static inline pt_u32 pt_facts_cpu_thread(const struct pt_facts *facts, const struct pt_thread *thread)
{
    return facts->cpu.numbers[pt_thread_number(&facts->ids, thread)];
}

static inline struct pt_image_use pt_image_use(const struct pt_facts *facts, const struct pt_process *process)
{
    return pt_kernel_counts_image(&facts->counts, &facts->cpu, process);
}

/* For tables: its CPU time, or why that is not known. */
struct pt_value pt_image_cpu_s(const struct pt_facts *facts, const struct pt_process *process);

/* When a thread began and ended, from the trace and the kernel's records; an exec does not end it. */
struct pt_thread_life {
    pt_i64 start_ns, end_ns;
    bool is_exact; /* the kernel saw it; otherwise it may have lived before its first call */
};
struct pt_thread_life pt_thread_life(const struct pt_facts *facts, const struct pt_thread *thread);
/* exec keeps the main thread; what it did before is a thread of the image before. NULL = this is the first. */
const struct pt_thread *pt_thread_before_exec(const struct pt_thread *thread);

/* A thread beside the main one, or a worker, that waited for work in nearly all of its life: nobody waited for it.
 * After the last event. */
bool pt_is_idle_helper(const struct pt_facts *facts, const struct pt_thread *thread);
/* Marks those of a stage, by their number in its CPU profile. */
void pt_mark_idle_helpers(const struct pt_profile *profile, pt_u32 stage, pt_u8 *marks, pt_u8 mark);

/* Its name in the CPU profile; NULL = not known. */
const char *pt_thread_name(const struct pt_profile *profile, const struct pt_thread *thread);
/* "io-thread (thread 123)", or "thread 123" if its name is not known. */
const char *pt_thread_label(struct pt_profile *profile, const struct pt_thread *thread);

#endif
