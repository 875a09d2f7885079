/* SPDX-License-Identifier: MIT
 *
 * python/pythons.h - the Python stacks of the threads that samples meet, in all processes of a stage.
 *
 * The kernel's sample has the native stack at its instant; the stack of Python is read right after it, while the thread
 * goes on or waits for us to go. A sample that nobody looked at in time has the stack that was read nearest to it.
 */
#ifndef PT_CPU_PROFILE_PYTHON_PYTHONS_H
#define PT_CPU_PROFILE_PYTHON_PYTHONS_H

#include "stacks.h"
#include "trace_files.h"

struct pt_python_read;

struct pt_pythons {
    struct pt_map by_pid; /* -> struct pt_python_entry *; 0 = gone */
    struct pt_trace_files files;
    struct pt_python_names names;
    struct pt_python_scratch *scratch;
    struct pt_python_read *reads; /* the last ones, in a ring */
    pt_u64 n_reads;               /* ever */
    struct pt_python_stack now;   /* of a thread that waits */
    pt_u64 hope_until_ns;         /* a process began a short while ago: it may become Python */
    pt_u32 n_running;             /* processes with an interpreter that we read */
    pt_u32 refused_pid;           /* of the first one whose memory may not be read; 0 = none */
    int refused_errno;
};

void pt_pythons_open(struct pt_pythons *pythons, int directory_fd);
void pt_pythons_close(struct pt_pythons *pythons);

/* Is it worthwhile to look at each sample at once? */
bool pt_pythons_want_samples(const struct pt_pythons *pythons, pt_u64 now_ns);
/* Times are CLOCK_MONOTONIC. A sample of a thread was taken a moment ago: its stack is kept for it. */
void pt_pythons_meet(struct pt_pythons *pythons, pt_u32 pid, pt_u32 tid, pt_u64 t_ns);
/* The thread left the CPU to wait, from then on: what was read since is where it waits, not where the sample was. */
void pt_pythons_left(struct pt_pythons *pythons, pt_u32 tid, pt_u64 t_ns);
/* The stack that was read for a sample, or nearest to it; NULL = none, or the thread runs no Python. */
const struct pt_python_stack *pt_pythons_stack_at(const struct pt_pythons *pythons, pt_u32 tid, pt_u64 t_ns);
/* Of a thread that waits; NULL as before. Valid until the next one is read. */
const struct pt_python_stack *pt_pythons_stack_now(struct pt_pythons *pythons, pt_u32 pid, pt_u32 tid);
/* Its interpreter; NULL = it has none that can be read, or none yet. */
struct pt_python_process *pt_pythons_process(struct pt_pythons *pythons, pt_u32 pid, pt_u64 now_ns);
/* What somebody else has found out about a process. */
void pt_pythons_take(struct pt_pythons *pythons, pt_u32 pid, const struct pt_python_header *header);

/* A process runs another program from now on, or begins. */
void pt_pythons_exec(struct pt_pythons *pythons, pt_u32 pid, pt_u64 now_ns);
/* A child has its parent's interpreter, at the same addresses. */
void pt_pythons_fork(struct pt_pythons *pythons, pt_u32 parent, pt_u32 child);
void pt_pythons_end(struct pt_pythons *pythons, pt_u32 pid);

#endif
