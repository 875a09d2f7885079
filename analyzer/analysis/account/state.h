/* SPDX-License-Identifier: MIT
 *
 * account/state.h - the sums of each thread, and what several files of the account need of them.
 */
#ifndef PT_ANALYSIS_ACCOUNT_STATE_H
#define PT_ANALYSIS_ACCOUNT_STATE_H

#include "proftrace/events.h"
#include "facts/path/beside_pauses.h"
#include "facts/path/critical_path.h"
#include "facts/state.h"
#include "facts/wait_kind.h"
#include "profile/profile.h"

enum {
    PT_ACCOUNT_MOST_WORKERS = 200,   /* rows of the table of main threads */
    PT_ACCOUNT_MOST_SHOWN = 64,      /* rows of the table of threads, but for the sum of the others */
    PT_ACCOUNT_MOST_FOLLOWED = 1024, /* pairs of them */
    PT_ACCOUNT_WAITING = 1024,       /* waits that are about to be followed */
};

struct pt_account_thread {
    double ns[PT_PART__COUNT];              /* of the events that were seen, nested ones taken off */
    double seen_ns[PT_KIND__COUNT];         /* the same by kind: totals may have more */
    double gil_cond_ns;                     /* of seen_ns[PT_KIND_lock_cond]: the GIL's */
    double copied_read_ns, copied_write_ns; /* of ns: calls that moved bytes within the program's memory only */
    /* Of its waits for locks and children: while own threads and forked copies of its process worked that it waited
     * for. In no call they are known by samples. */
    struct pt_account_working {
        double known_ns, gap_ns, sampled_ns;
    } for_threads, for_children;
    struct pt_account_working for_helpers; /* of the waits for threads: for one that is on the path itself */
    struct pt_pauses pauses;               /* of a main thread */
};

/* The time of a thread, or of several that followed each other. */
struct pt_account_split {
    double ns[PT_PART__COUNT];
    double copied_read_ns, copied_write_ns; /* of file_read and file_write, as above */
    double starting_ns; /* of native: the calls that start programs, which wait until the program has begun */
};

/* What one thread waited for in another. */
struct pt_account_followed {
    pt_u32 stage, step; /* 1 = the critical thread waited, 2 = one that it waited for ... */
    const struct pt_thread *waiter, *target;
    enum pt_time_part part;
    double ns[PT_PART__COUNT];   /* what the target did during the wait; unattributed = before the last spans that are
                                    kept */
    double gap_ns;               /* in no call, and not known to be off the CPU */
    double python_ns, native_ns; /* by the samples in the gaps */
    double total_ns;
    pt_u64 waits;
    bool is_shown;
};

/* A wait of a critical thread. */
struct pt_account_wait {
    const struct pt_thread *thread; /* NULL = none */
    struct pt_span span;
    bool is_for_result; /* what it waits for is done or given, not let go: no lock that another one holds */
    bool is_for_helper; /* for a thread that is critical meanwhile */
};

struct pt_account {
    struct pt_profile *profile;
    const struct pt_facts *facts;
    struct pt_account_thread *threads;
    double *heap_costs_ns;            /* of each call of the allocator, by number of a thread; after the last event */
    struct pt_account_split *helped;  /* by process: what other threads did while they were critical, less what the main
                                         thread did meanwhile */
    struct pt_account_split **partly; /* by process: what a main thread did while it was critical; NULL = it never
                                         was, or always */
    struct pt_account_wait waiting[PT_ACCOUNT_WAITING]; /* ring, by end */
    pt_u64 n_waiting, n_followed;                       /* counts of all that were added and removed */
    /* The longest of the last waits for one that is not known yet, and of those at eventfds: of either kind many are
     * never resolved, and one that was shorter would throw the other kind's out. */
    struct pt_account_wait unresolved[2];
    struct {
        PT_VEC(struct pt_account_followed);
    } followed;
    struct pt_map by_target; /* stage, step, threads, part -> index in followed, plus 1 */
};

/* Adds what is recorded of a thread. `all`: as below. */
void pt_account_add_thread(const struct pt_account *account, const struct pt_thread *thread,
                           struct pt_account_split *split, bool all);
/* Of its locks and waits for children, those for own threads and copies of its process that worked are own workers.
 * `all`: also those for threads that are critical themselves meanwhile. */
void pt_account_name_workers(const struct pt_account *account, const struct pt_thread *thread,
                             struct pt_account_split *split, bool all);
/* The CPU profile of a thread's stage; without data: it has none. */
static inline const struct pt_cpu_timeline *pt_account_profile_of(const struct pt_account *account,
                                                                  const struct pt_thread *thread)
{
    return pt_facts_cpu(account->facts, pt_profile_stage_of(account->profile, thread->process));
}
/* Whether its main thread is on the critical path of the stage. */
static inline bool pt_account_is_critical(const struct pt_account *account, pt_u32 stage,
                                          const struct pt_process *process)
{
    return pt_profile_stage_of(account->profile, process) == stage && pt_path_has(account->facts->paths, process);
}
static inline void pt_account_add_split(struct pt_account_split *sum, const struct pt_account_split *split)
{
    for (int part = 0; part < PT_PART__COUNT; part++)
        sum->ns[part] += split->ns[part];
    sum->starting_ns += split->starting_ns;
    sum->copied_read_ns += split->copied_read_ns;
    sum->copied_write_ns += split->copied_write_ns;
}
/* What it did between its calls, by its own clock. */
static inline const struct pt_thread_clock *pt_account_clock(const struct pt_account *account,
                                                             const struct pt_thread *thread)
{
    return &account->facts->counts.threads[pt_thread_number(&account->facts->ids, thread)].clock;
}
/* Its index in account->threads. */
static inline pt_u32 pt_account_number(const struct pt_account *account, const struct pt_thread *thread)
{
    return pt_thread_number(&account->facts->ids, thread);
}
/* Without its calls, its waits for a GPU are unknown; also those before exec. */
bool pt_account_calls_cuda(const struct pt_thread *thread);

#endif
