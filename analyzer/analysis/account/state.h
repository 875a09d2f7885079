/* SPDX-License-Identifier: MIT
 *
 * account/state.h - what is gathered of threads, and what several parts of the account ask about one.
 */
#ifndef PT_ANALYSIS_ACCOUNT_STATE_H
#define PT_ANALYSIS_ACCOUNT_STATE_H

#include "proftrace/events.h"
#include "facts/facts.h"
#include "facts/wait_kind.h"
#include "profile/profile.h"

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

struct account_thread {
    pt_i64 last_ns; /* end of its last span */
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
    const struct pt_facts *facts;
    struct account_thread *threads;
    bool *critical;                                  /* by process: its main thread is the stage's critical thread */
    pt_u32 n_kept;                                   /* threads that keep spans */
    struct account_wait waiting[PT_ACCOUNT_WAITING]; /* ring, by end */
    pt_u64 n_waiting, n_followed;                    /* ever put there, and taken from there */
    struct account_wait late;                        /* the longest of the last waits for one that is not known yet */
    struct pt_map connected; /* process and hash of the other side -> 1: connections that it made itself */
    struct {
        PT_VEC(struct followed);
    } followed;
    struct pt_map by_target; /* stage, step, threads, part -> index in followed, plus 1 */
};

/* The time of a thread, or of several that followed each other. */
struct account_split {
    double ns[PT_PART__COUNT];
};

/* Adds what is recorded of a thread. */
void pt_account_add_thread(const struct account *account, const struct pt_thread *thread, struct account_split *split);
/* The CPU profile of a thread's stage; without data: it has none. */
static inline const struct pt_cpu_timeline *pt_account_profile_of(const struct account *account,
                                                                  const struct pt_thread *thread)
{
    return pt_facts_cpu(account->facts, pt_profile_stage_of(account->profile, thread->process));
}
/* Its index in account->threads. */
static inline pt_u32 pt_account_number(const struct account *account, const struct pt_thread *thread)
{
    return pt_thread_number(&account->facts->ids, thread);
}
/* exec keeps the main thread; what it did before is a thread of the image before. NULL = this is the first. */
const struct pt_thread *pt_account_before_exec(const struct pt_thread *thread);
/* When a thread was born and died, as far as the trace and the kernel's records tell; exec kept it. */
struct account_life {
    pt_i64 start_ns, end_ns;
    bool is_exact; /* the kernel saw it; otherwise it may have lived before its first call */
};
struct account_life pt_account_life(const struct account *account, const struct pt_thread *thread);
/* Without its calls nobody knows what it waited for a GPU; before exec, too. */
bool pt_account_calls_cuda(const struct pt_thread *thread);

#endif
