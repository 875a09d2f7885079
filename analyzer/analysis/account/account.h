/* SPDX-License-Identifier: MIT
 *
 * account.h - the pieces of the time account. For account*.c only.
 */
#ifndef PT_ANALYSIS_ACCOUNT_ACCOUNT_H
#define PT_ANALYSIS_ACCOUNT_ACCOUNT_H

#include "proftrace/events.h"
#include "analysis/analysis.h"
#include "facts/channels.h"
#include "facts/thread_ids.h"
#include "facts/wait_kind.h"
#include "util/map.h"

enum {
    PT_ACCOUNT_LAST_SPANS = 4096,    /* per thread: what a wait may look back on */
    PT_ACCOUNT_MOST_THREADS = 512,   /* that keep them; later ones are accounted but not followed */
    PT_ACCOUNT_MOST_WORKERS = 200,   /* rows of the table of main threads */
    PT_ACCOUNT_MOST_SHOWN = 64,      /* rows of the table of threads, but for the sum of the others */
    PT_ACCOUNT_MOST_CHILDREN = 64,   /* that a wait for a lock is followed into */
    PT_ACCOUNT_MOST_STEPS = 4,       /* from one that waits to one that it waits for */
    PT_ACCOUNT_MOST_FOLLOWED = 1024, /* pairs of them */
    PT_ACCOUNT_WAITING = 1024,       /* waits that are about to be followed */
};

/* Whom a wait was for; `number`: of a thread (of a process, plus 1), or of a channel. */
enum account_whom { WHOM_NOBODY, WHOM_THREAD, WHOM_PROCESS, WHOM_WRITER, WHOM_READER };

struct span {
    pt_i64 start_ns, end_ns;
    pt_u8 part, whom; /* enum pt_time_part, enum account_whom */
    pt_u32 number;
    pt_u32 n_inner; /* spans that were kept just before it and that it contains */
};

/* The last wait of an event loop: what it was for is told by what the thread does next. */
struct account_loop {
    struct span span; /* end_ns 0 = none, or it is known already */
    double own_ns;
    bool for_signals;
};

/* Between two times. */
struct account_quiet {
    pt_i64 from_ns, until_ns; /* zeroed = nothing but that instant */
};

struct account_thread {
    pt_u32 cpu_thread;          /* its number in the CPU profile; 0 = it is not there */
    struct account_quiet quiet; /* of calls within it the CPU profile says nothing */
    pt_i64 last_ns;             /* end of its last span */
    struct account_loop loop;
    double ns[PT_PART__COUNT];     /* of the events that were seen, nested ones taken off */
    double seen_ns[PT_ROW__COUNT]; /* the same by row: totals may have more */
    double gil_cond_ns;            /* of seen_ns[PT_ROW_lock_cond]: the GIL's */
    struct span *last;             /* ring of PT_ACCOUNT_LAST_SPANS, by end; NULL = not kept */
    pt_u64 n_spans;                /* ever */
    pt_u32 waits_for;              /* process index + 1 of the last wait for another process */
};

/* What one thread waited for in another. */
struct followed {
    pt_u32 stage, step; /* 1 = the critical thread waited, 2 = one that it waited for ... */
    const struct pt_thread *waiter, *target;
    enum pt_time_part part;
    double ns[PT_PART__COUNT];   /* what the target did meanwhile; unattributed = before the last spans that are kept */
    double gap_ns;               /* in no call, and not known to be off the CPU */
    double python_ns, native_ns; /* that samples in the gaps stand for */
    double total_ns;
    pt_u64 waits;
    bool is_shown;
};

/* A wait of a critical thread. */
struct account_wait {
    const struct pt_thread *thread; /* NULL = none */
    struct span span;
};

struct account {
    struct pt_profile *profile;
    pt_u32 *first_thread; /* by process: index of its first thread in threads */
    struct account_thread *threads;
    bool *critical;                  /* by process: its main thread is the stage's critical thread */
    struct account_moments *moments; /* by stage */
    pt_u32 n_kept;                   /* threads that keep spans */
    struct pt_peers peers;
    struct account_wait waiting[PT_ACCOUNT_WAITING]; /* ring, by end */
    pt_u64 n_waiting, n_followed;                    /* ever put there, and taken from there */
    struct account_wait late;                        /* the longest of the last waits for one that is not known yet */
    struct pt_map connected; /* process and hash of the other side -> 1: connections that it made itself */
    struct pt_joins joins;
    struct {
        PT_VEC(struct followed);
    } followed;
    struct pt_map by_target; /* stage, step, threads, part -> index in followed, plus 1 */
};

/* The time of a thread, or of several that followed each other. */
struct account_split {
    double ns[PT_PART__COUNT];
};

/* When a thread was preempted, or waited for a page. */
struct account_interval {
    pt_i64 start_ns, end_ns;
    bool is_fault, is_inside; /* inside: of a recorded call, as far as they were seen */
};

/* What the kernel knows about the threads of a stage beside their calls. Threads are those of the CPU profile. */
struct account_moments {
    const struct pt_cpu_threads *cpu;    /* NULL = there is no CPU profile */
    pt_i64 sample_shift_ns;              /* from the times of `cpu` to those of events */
    bool *is_inside;                     /* by moment of `cpu` */
    bool *is_python;                     /* by node */
    struct account_interval *intervals;  /* by thread, then time */
    size_t *first;                       /* by thread: its first interval; one more at the end */
    size_t *next_interval, *next_sample; /* by thread: the first behind all calls so far */
    bool has_faults, has_samples, is_user_only;
    double period_ns;
    double faults, fault_ns;  /* major ones of all threads of the stage, and how long they waited */
    const char *fault_reason; /* why faults are not known */
};

/* What a thread did between two times, as far as it was seen. */
struct account_between {
    double preempted_ns, fault_ns;
    double python, native; /* samples */
};

/* CPU figures of a thread; NAN = unknown. */
struct account_cpu {
    double on_s, runnable_s, python_share;
    double preempted_s; /* of runnable_s: exact, and taken off the calls that it was in */
    double fault_s;     /* outside of calls */
    double samples_s;   /* outside of calls, each a period; NAN = of the kernel, too: they stand for all */
    const char *python_reason, *fault_reason;
};
struct account_cpu pt_account_cpu(const struct account *account, pt_u32 stage);
/* Of any thread; `number`: in the CPU profile, 0 = it is not there; `last`: the last image of its process. */
struct account_cpu pt_account_cpu_of(const struct account *account, pt_u32 stage, pt_u32 number,
                                     const struct pt_process *last);

void pt_account_moments_open(struct account *account, pt_u32 stage);
void pt_account_moments_close(struct account_moments *moments);
/* The number of a thread in the CPU profile; 0 = it is not there. */
pt_u32 pt_account_moments_thread(const struct account_moments *moments, const struct pt_thread *thread);
/* A thread was in a call: what of it was being preempted. Calls of a thread come in the order of their ends.
 * *ret_quiet: of calls within it there is nothing to say, as of most. */
pt_i64 pt_account_moments_in(struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                             struct account_quiet *ret_quiet);
/* Adds to *between. `thread` is not 0. */
void pt_account_moments_between(const struct account_moments *moments, pt_u32 thread, pt_i64 start_ns, pt_i64 end_ns,
                                struct account_between *between);
/* What a sample of a thread stands for. */
double pt_account_moments_sample_ns(const struct account_moments *moments, pt_u32 thread);
void pt_account_moments_result(const struct account_moments *moments, pt_u32 thread, struct account_cpu *cpu);

/* The recorded time of a thread becomes an account: what was not recorded is computing, waiting for a CPU, or nobody
 * knows; what could not be recorded is unknown, with the reason. `last`: the last image of its process. */
struct account_result {
    struct pt_value parts[PT_PART__COUNT];
};
void pt_account_finish_split(const struct pt_process *last, struct account_split *split, double wall_ns,
                             const struct account_cpu *cpu, bool has_gpu, struct account_result *result);
void pt_account_set_parts(struct account *account, pt_u32 stage, struct account_split *split);
/* Adds what is recorded of a thread. */
void pt_account_add_thread(const struct account *account, const struct pt_thread *thread, struct account_split *split);
/* Its index in account->threads. */
static inline pt_u32 pt_account_number(const struct account *account, const struct pt_thread *thread)
{
    return account->first_thread[thread->process->index] + thread->index;
}
/* When a thread was born and died, as far as the trace and the kernel's records tell; exec kept it. */
struct account_life {
    pt_i64 start_ns, end_ns;
    bool is_exact; /* the kernel saw it; otherwise it may have lived before its first call */
};
struct account_life pt_account_life(const struct account *account, const struct pt_thread *thread);
/* Without its calls nobody knows what it waited for a GPU; before exec, too. */
bool pt_account_calls_cuda(const struct pt_thread *thread);
extern const char pt_account_no_gpu[];
/* The table of a stage's threads, each with its account. */
void pt_account_set_threads(struct account *account, pt_u32 stage);
/* A part of one process; unknown, with the reason, when it could not be recorded. */
struct pt_value pt_account_part_of(const struct pt_process *process, enum pt_time_part part, double ns);

const struct pt_thread *pt_account_main_thread(const struct pt_process *process);

/* Whom a wait was for, as far as the call tells. `channel`: as pt_peers_note gave it. */
void pt_account_set_whom(const struct account *account, const struct pt_event *event, pt_u32 channel,
                         struct span *span);

/* Remember a span; returns its length without what it contains: an inner one ended before and came first. */
pt_i64 pt_account_keep_span(struct account *account, struct account_thread *thread, const struct span *span);

/* An event loop waited; any other span of the thread, `is_critical` = of a stage's critical one. */
void pt_account_loop_waited(struct account_thread *thread, const struct span *span, double own_ns, bool for_signals);
void pt_account_loop_next(struct account *account, struct account_thread *thread, const struct pt_event *event,
                          const struct span *span, bool is_critical);

/* The critical thread waited: what did the other side do meanwhile? That is looked at a moment later. */
void pt_account_follow(struct account *account, const struct pt_thread *thread, const struct span *span);
void pt_account_follow_due(struct account *account, pt_i64 now_ns);
void pt_account_follow_all(struct account *account);
void pt_account_set_followed(struct account *account, pt_u32 stage);
void pt_account_follow_fini(struct account *account);

#endif
