/* SPDX-License-Identifier: MIT
 *
 * waits/lock.h - what is collected of each lock.
 */
#ifndef PT_ANALYSIS_WAITS_LOCK_H
#define PT_ANALYSIS_WAITS_LOCK_H

#include "facts/path/split_time.h"
#include "facts/workers.h"
#include "profile/histogram.h"
#include "util/map.h"
#include "lock_holders.h"
#include "lock_sleeps.h"
#include "lock_turns.h"
#include "lock_use.h"

struct pt_lock_time {
    struct pt_split_time waited;
    struct pt_lock_turns turns;
};

struct pt_lock {
    const struct pt_process *process; /* NULL = those above the most that are kept */
    const char *path;                 /* of a lock on a file */
    pt_u64 addr;
    pt_u32 stage, number;
    pt_u16 kind;
    bool is_of_several;        /* processes */
    struct pt_histogram waits; /* ns */
    const struct pt_thread *holder;
    double holder_ns; /* heaviest holder, by the majority vote of Misra and Gries: ahead of all others by this */
    struct pt_lock_time time;
    struct pt_lock_life *life; /* of a semaphore */
    double use_ns[PT_LOCK_USE_SIGNAL + 1];
};

struct pt_locks {
    struct pt_profile *profile;
    struct {
        PT_VEC(struct pt_lock *);
    } all;
    struct pt_map by_key;
    struct pt_intern paths;
    struct pt_lock_holders holders;
    struct pt_lock_sleeps sleeps;
    struct {
        pt_i64 start_ns, end_ns;
    } * idle;                     /* by process: when its main thread waited for data last */
    struct pt_lock_time *stages;  /* of all that are locks for certain, by stage */
    struct pt_lock_time *between; /* of those between processes: on files, shared mutexes */
};

#endif
