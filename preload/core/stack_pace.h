/* SPDX-License-Identifier: MIT
 *
 * stack_pace.h - of how many of a thread's heap samples a stack is taken, so that this takes less than 0.5 % of its CPU
 * time at any rate of allocation.
 *
 * A thread earns credit by running and pays for each stack. While it owes, its stacks are taken half as often at each
 * judgement, down to what its samples of late allow: no less, because a stack that stands for a hundred makes a bad
 * estimate of a short burst. When it owes nothing, they are taken twice as often again. What is decided for a sample
 * was known before the sample: so a stack that stands for what it was the only one of makes sums right on average.
 */
#ifndef PT_CORE_STACK_PACE_H
#define PT_CORE_STACK_PACE_H

#include "proftrace/types.h"

/* What a thread earns: 0.29 % of its time, and to begin with 4 ms for the program; a forked child has what is left. */
#define PT_PACE_EARNED(ran_ns) ((ran_ns)*3 / 1024)
#define PT_PACE_SPARE_NS 4000000
/* What it saves up for a storm: as much as it earns in 0.7 s. */
#define PT_PACE_MOST_CREDIT_NS 2000000
/* Owes so much: its samples are not what they were, or large blocks, of which more is taken. */
#define PT_PACE_DEEP_NS 500000
#define PT_PACE_MOST_DOUBLINGS 22u /* one in 2^22 fits an event's tag, which has a sign */

struct pt_stack_pace {
    pt_u64 judged_at; /* counter; 0 = never */
    pt_u64 cpu_ns;    /* of the thread, then */
    pt_u64 spent;     /* on stacks since then, counter */
    pt_i64 credit_ns;
    pt_u32 n_samples; /* since then */
    pt_u32 n_taken;   /* stacks, of those */
    pt_u32 one_ns;    /* what one takes, of late */
    pt_u32 doublings; /* of the distance between two stacks */
};

/* What a thread owes is paid out of what the process has to begin with, as long as that lasts. */
static inline void pt_stack_pace_pay(struct pt_stack_pace *pace, pt_i64 *spare_ns)
{
    const pt_i64 spare = __atomic_load_n(spare_ns, __ATOMIC_RELAXED), owed = -pace->credit_ns;
    const pt_i64 paid = owed < spare ? owed : spare;
    if (paid <= 0)
        return;
    __atomic_fetch_sub(spare_ns, paid, __ATOMIC_RELAXED);
    pace->credit_ns += paid;
}

/* Doublings with which as many samples would have cost no more than was earned. */
static inline pt_u32 pt_stack_pace_wanted(const struct pt_stack_pace *pace, pt_u64 earned_ns)
{
    pt_u32 doublings = 0;
    for (pt_u64 cost_ns = (pt_u64)pace->n_samples * pace->one_ns; cost_ns > earned_ns; cost_ns /= 2)
        doublings++;
    return doublings < PT_PACE_MOST_DOUBLINGS ? doublings : PT_PACE_MOST_DOUBLINGS;
}

/* The thread ran so long since it was judged last, and spent so much of that on stacks. A signal handler that allocates
 * may come here in between. */
static inline void pt_stack_pace_judge(struct pt_stack_pace *pace, pt_u64 ran_ns, pt_u64 spent_ns, pt_i64 *spare_ns)
{
    const pt_u64 earned_ns = PT_PACE_EARNED(ran_ns);
    const pt_i64 credit_ns = pace->credit_ns + (pt_i64)earned_ns - (pt_i64)spent_ns;
    pace->credit_ns = credit_ns < PT_PACE_MOST_CREDIT_NS ? credit_ns : PT_PACE_MOST_CREDIT_NS;
    pt_stack_pace_pay(pace, spare_ns);
    if (pace->n_taken) {
        const pt_u32 one_ns = (pt_u32)(spent_ns / pace->n_taken);
        pace->one_ns = pace->one_ns ? (pace->one_ns * 3 + one_ns) / 4 : one_ns;
    }
    const pt_u32 doublings = pace->doublings, wanted = pt_stack_pace_wanted(pace, earned_ns);
    const int is_deep = pace->credit_ns < -PT_PACE_DEEP_NS && spent_ns > earned_ns;
    if (pace->credit_ns < 0 && (doublings < wanted || is_deep) && doublings < PT_PACE_MOST_DOUBLINGS)
        pace->doublings = doublings + 1;
    else if (pace->credit_ns >= -PT_PACE_DEEP_NS && doublings > wanted)
        pace->doublings = doublings - 1;
    pace->n_samples = pace->n_taken = 0;
}

/* Times that the chance of a sample of this size is halved: a block larger than the distance between two samples counts
 * for more of them. */
static inline pt_u32 pt_stack_pace_halvings(const struct pt_stack_pace *pace, pt_u64 size_bytes, pt_u64 interval_bytes)
{
    const pt_u64 intervals = size_bytes / interval_bytes;
    const pt_u32 log2 = intervals ? (pt_u32)(63 - __builtin_clzll(intervals)) : 0;
    return pace->doublings > log2 ? pace->doublings - log2 : 0;
}

#endif
