/* SPDX-License-Identifier: MIT
 *
 * off_cpu.h - times that threads of a stage were off the CPU: with which stack, and why.
 *
 * The launcher has the stacks of some of them, and exact sums of all: within a class of length, those with a stack
 * share the time of the class. Why is what the hooks recorded: the innermost call that the thread was in; without a
 * stack, calls of that length.
 */
#ifndef PT_ANALYSIS_CPU_OFF_CPU_H
#define PT_ANALYSIS_CPU_OFF_CPU_H

#include "facts/cpu_samples.h"
#include "facts/wait_kind.h"
#include "off_cpu_calls.h"

struct pt_off_wait {
    pt_i64 t_ns; /* of the run */
    pt_u64 duration_ns;
    double s; /* what it stands for */
    pt_u32 thread, node, flags;
    pt_u32 part; /* of the time account, plus 1; 0 = in no recorded call */
};

/* Of most calls there is nothing to say: those of a thread that begin and end between two of its waits. */
struct pt_off_quiet {
    pt_u32 tid; /* 0 = free */
    pt_i64 from_ns, until_ns;
};
enum { PT_OFF_QUIET = 1024 };

struct pt_off_cpu {
    const struct pt_cpu_threads *threads;
    struct pt_off_wait *waits; /* by thread, then time */
    size_t n;
    size_t *first;              /* by thread: its first wait; one more at the end */
    struct pt_off_quiet *quiet; /* [PT_OFF_QUIET], by tid: the last one that had the place */
    struct pt_off_calls calls;
    double unsampled_s;                    /* of classes of which no stack was taken */
    double unsampled_of_s[PT_PART__COUNT]; /* the same by what it seems to be; unattributed = not known */
};

/* `threads` stays the caller's. */
void pt_off_cpu_open(struct pt_off_cpu *off, const struct pt_cpu_threads *threads);
/* Events in the order of streams. */
void pt_off_cpu_event(struct pt_off_cpu *off, const struct pt_event *event);
/* After the events. */
void pt_off_cpu_weigh(struct pt_off_cpu *off);
void pt_off_cpu_close(struct pt_off_cpu *off);

/* "Sleep", "File read", "Runnable" ... */
const char *pt_off_cpu_reason(const struct pt_off_wait *wait);
/* The same for time of which no stack was taken. */
const char *pt_off_cpu_unsampled_reason(enum pt_time_part part);

#endif
