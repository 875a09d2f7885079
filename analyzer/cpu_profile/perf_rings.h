/* SPDX-License-Identifier: MIT
 *
 * perf_rings.h - the kernel's records about a process that we are going to start, and all that it starts.
 *
 * The events are opened on ourselves, switched off, with enable_on_exec and inherit: a child that is forked while they
 * are open starts to be recorded at its execve, unprivileged. We never exec, so we never record ourselves. There is one
 * event and one ring per CPU and kind of sample, because the kernel maps no inherited event that follows a task over
 * all of them.
 */
#ifndef PT_CPU_PROFILE_PERF_RINGS_H
#define PT_CPU_PROFILE_PERF_RINGS_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "proftrace/types.h"
#include "util/error.h"

/* 16 general registers without the segments, and rip: in the order in which the kernel stores them. */
enum pt_perf_reg {
    PT_REG_RAX,
    PT_REG_RBX,
    PT_REG_RCX,
    PT_REG_RDX,
    PT_REG_RSI,
    PT_REG_RDI,
    PT_REG_RBP,
    PT_REG_RSP,
    PT_REG_RIP,
    PT_REG_R8,
    PT_REG_R15 = 16,
    PT_REG__COUNT = 17,
};

/* The kinds of samples. A kind has a ring of its own if its samples may be so many that others would be lost.
 */
enum pt_perf_kind {
    PT_PERF_CLOCK,    /* a period on the CPU is over; its ring has all records that are no samples */
    PT_PERF_SWITCHES, /* the thread leaves the CPU; only as many as there is room for */
    PT_PERF_FAULTS, /* the thread may have waited for a page that is there now; without a stack, and in the ring of the
                       clock, because every user may lock only that much memory */
    PT_PERF__COUNT,
};

struct pt_perf_ring;

struct pt_perf_rings {
    struct pt_perf_ring *items;
    pt_u32 n, cpus;
    int epoll_fd; /* readable = there is a sample of the clock; -1 = none */
    bool user_only;
    bool has[PT_PERF__COUNT];
    int *fault_fds;
    pt_u32 n_faults;
    pt_u8 *scratch; /* a record that goes over the end of its ring, in one piece */
};

/* One record; valid until the next one is asked for. */
struct pt_perf_record {
    pt_u32 type;
    pt_u16 misc;
    enum pt_perf_kind kind;
    pt_u32 pid, tid; /* of the thread that ran */
    pt_u64 t_ns;     /* CLOCK_MONOTONIC */
    const pt_u8 *body;
    pt_u32 body_bytes; /* without what all records have */
};

struct pt_perf_sample {
    pt_u64 ip;
    const pt_u64 *regs; /* by enum pt_perf_reg; NULL = none: a kernel thread, or one that is ending */
    const pt_u8 *stack;
    pt_u64 stack_bytes;
};

/* On failure nothing is open, and errno says why. */
int pt_perf_rings_open(struct pt_perf_rings *rings, pt_u64 period_ns, pt_u32 stack_bytes, struct pt_error *err);
void pt_perf_rings_close(struct pt_perf_rings *rings);

/* Until pt_perf_rings_stop, the records that are there now can be read in the order of time. Those from `until_ns`
 * on are left for later: an earlier record of another CPU may still be missing. */
void pt_perf_rings_start(struct pt_perf_rings *rings);
bool pt_perf_rings_next(struct pt_perf_rings *rings, pt_u64 until_ns, struct pt_perf_record *ret_record);
void pt_perf_rings_stop(struct pt_perf_rings *rings);

/* The samples of the clock that this function has not shown yet: they stay for pt_perf_rings_next. */
struct pt_perf_glance {
    bool leaves; /* no sample: the thread left the CPU, because it waits */
    pt_u32 pid, tid;
    pt_u64 t_ns;
};
bool pt_perf_rings_glance(struct pt_perf_rings *rings, struct pt_perf_glance *ret_glance);
/* A ring is a quarter full. */
bool pt_perf_rings_are_filling(const struct pt_perf_rings *rings);

/* False for a record that is too short for what it says. */
bool pt_perf_sample_read(const struct pt_perf_record *record, struct pt_perf_sample *ret_sample);

#endif
