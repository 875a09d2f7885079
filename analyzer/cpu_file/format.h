/* SPDX-License-Identifier: MIT
 *
 * cpu_file/format.h - the file of a stage's CPU profile, cpu-<stage>.pcp: written while the stage
 * runs, read afterwards.
 *
 * A header, then chunks. A chunk counts only if it is complete and its checksum is right: what was written before a
 * kill can be read. Numbers are those of the machine (little endian); times are CLOCK_MONOTONIC since
 * begin_monotonic_ns.
 *
 * Threads, modules and nodes have numbers that count from 1 (modules: from PT_CPU_MODULE__FIRST). A node is a frame and
 * its caller; so a number names a whole stack. Addresses are those in the module's file, of the instruction that runs
 * or calls, never of the one after the call; without a module, addresses in memory.
 */
#ifndef PT_CPU_FILE_FORMAT_H
#define PT_CPU_FILE_FORMAT_H

#include "proftrace/types.h"

#define PT_CPU_MAGIC "PTCPU\r\n\032"
#define PT_CPU_VERSION 1u
#define PT_CPU_FILE_FORMAT "cpu-%u.pcp"   /* number of the stage in run.json, from 0 */
#define PT_CPU_JIT_FORMAT "jit-%u-%u.map" /* stage, number of a process's main thread: see jit_map.h */

enum {
    PT_CPU_SAMPLED = 1,   /* perf events were there; otherwise only what schedstat says */
    PT_CPU_USER_ONLY = 2, /* the kernel's share could not be sampled */
    PT_CPU_WAITS = 4,     /* with stacks of threads that left the CPU */
    PT_CPU_INTERVALS = 8, /* times for the accounts of threads are there one by one; older ones: of main threads */
    PT_CPU_FAULTS = 16,   /* waits for pages are marked */
};

struct pt_cpu_header {
    char magic[8];
    pt_u32 version, header_bytes;
    pt_u64 begin_monotonic_ns, begin_realtime_ns;
    pt_u64 period_ns; /* of on-CPU time between two samples of a thread */
    pt_u32 flags, root_pid;
    pt_u32 stack_bytes, cpus;
};

enum pt_cpu_chunk_type {
    PT_CPU_CHUNK_MODULE = 1, /* one pt_cpu_module, then its path */
    PT_CPU_CHUNK_THREADS,    /* the last one of a thread counts */
    PT_CPU_CHUNK_NODES,      /* in the order of their numbers */
    PT_CPU_CHUNK_SAMPLES,
    PT_CPU_CHUNK_COUNTS,    /* samples as sums, without their times: there were too many to keep each */
    PT_CPU_CHUNK_TIMES,     /* the last one of a thread counts */
    PT_CPU_CHUNK_TOTALS,    /* the last one counts */
    PT_CPU_CHUNK_NOTE,      /* text */
    PT_CPU_CHUNK_WAITS,     /* some of the times off the CPU, with the stack */
    PT_CPU_CHUNK_WAIT_SUMS, /* the last one of a thread counts */
    PT_CPU_CHUNK_INTERVALS,
    PT_CPU_CHUNK_FAULT_SUMS, /* the last one of a thread counts */
    PT_CPU_CHUNK_ON_CPU,
    PT_CPU_CHUNK_KERNEL, /* the last one of a thread counts */
    PT_CPU_CHUNK_NAMES,  /* of frames of Python, each ending in NUL, in the order of their numbers from 1 */
};

struct pt_cpu_chunk {
    pt_u32 type, bytes, crc; /* CRC-32C of the payload */
    pt_u32 number;           /* of the chunk, from 0 */
};

enum {
    PT_CPU_MODULE_UNKNOWN,
    PT_CPU_MODULE_KERNEL, /* address 0: somewhere in it */
    PT_CPU_MODULE_CUT,    /* what called this was not found */
    PT_CPU_MODULE__FIRST,
    PT_CPU_MODULE_PYTHON = 0xffff, /* its address is the number of a name: include/proftrace/python.h */
};

enum { PT_CPU_BUILD_ID_BYTES = 20, PT_CPU_COMM_BYTES = 16, PT_CPU_DEPTH_MAX = 256 };

/* More than these are counted as lost, or without their time: a file is never larger than about 150 MB. */
#define PT_CPU_THREADS_MAX 200000u
#define PT_CPU_NODES_MAX 1000000u
#define PT_CPU_NAMES_MAX 500000u
#define PT_CPU_SAMPLES_MAX 4000000u
#define PT_CPU_WAITS_MAX 1000000u
#define PT_CPU_INTERVALS_MAX 1000000u

struct pt_cpu_module {
    pt_u32 number, build_id_bytes;
    pt_u8 build_id[PT_CPU_BUILD_ID_BYTES];
};

struct pt_cpu_thread {
    pt_u32 number, pid, tid, ppid;
    pt_u64 start_ns;
    char comm[PT_CPU_COMM_BYTES]; /* ends in NUL */
};

struct pt_cpu_node {
    pt_u32 parent; /* 0 = it has no caller */
    pt_u32 module;
    pt_u64 address;
};

struct pt_cpu_sample {
    pt_u64 t_ns;
    pt_u32 thread, node;
};

struct pt_cpu_count {
    pt_u32 thread, node;
    pt_u64 samples;
};

enum {
    PT_CPU_WAIT_PREEMPTED = 1, /* it could have run on, but another ran */
    PT_CPU_WAIT_FAULT = 2,     /* in no system call: a page was missing */
};

/* From when a thread left the CPU until it ran again. */
struct pt_cpu_wait {
    pt_u64 t_ns, duration_ns;
    pt_u32 thread, node;
    pt_u32 flags, pad;
};

/* Which waits get a stack is chance, but the time of all waits is exact: by classes of length it is known how much each
 * stack represents.
 */
enum { PT_CPU_WAIT_CLASSES = 24 };
static inline pt_u32 pt_cpu_wait_class(pt_u64 duration_ns)
{
    const pt_u32 log2_us = duration_ns < 1024 ? 0 : 63 - (pt_u32)__builtin_clzll(duration_ns >> 10);
    return log2_us < PT_CPU_WAIT_CLASSES ? log2_us : PT_CPU_WAIT_CLASSES - 1;
}

struct pt_cpu_wait_sums {
    pt_u32 thread, pad;
    pt_u64 blocked_ns[PT_CPU_WAIT_CLASSES];
    pt_u64 preempted_ns;
};

enum pt_cpu_interval_kind {
    PT_CPU_INTERVAL_PREEMPTED, /* it could have run on, but another ran */
    PT_CPU_INTERVAL_FAULT,     /* it waited for a page that was not in memory; outside of system calls */
};

struct pt_cpu_interval { /* later ones than PT_CPU_INTERVALS_MAX, of other than main threads half, are in sums only */
    pt_u64 t_ns, duration_ns;
    pt_u32 thread, kind;
};

struct pt_cpu_fault_sums {
    pt_u32 thread, pad;
    pt_u64 faults;   /* that needed a page from a disk, or waited for one that another thread was reading */
    pt_u64 waits_ns; /* off the CPU for them */
};

/* Of a thread that is over, by the kernel's own count. That has what switching to it and from it took; its records of
 * switches have not. */
struct pt_cpu_on_cpu {
    pt_u32 thread, pad;
    pt_u64 on_cpu_ns;
};

/* Of a thread that lives, by the kernel's own count, and what the records of its switches said at the same time: they
 * count what a hypervisor took from it, too. */
struct pt_cpu_kernel {
    pt_u32 thread, pad;
    pt_u64 kernel_on_ns, seen_on_ns;
};

enum { PT_CPU_THREAD_ENDED = 1, PT_CPU_THREAD_HAS_DELAY = 2 };

struct pt_cpu_times {
    pt_u32 thread, flags;
    pt_u64 on_cpu_ns;
    pt_u64 preempted_ns;  /* could have run on, but another ran */
    pt_u64 waiting_ns;    /* blocked, until it ran again: what it waited for a CPU after that is in run_delay_ns, too */
    pt_u64 unknown_ns;    /* records of it were lost */
    pt_u64 run_delay_ns;  /* all time in run queues, as schedstat said when it was read last */
    pt_u64 delay_seen_ns; /* when that was */
    pt_u64 end_ns;        /* last thing known */
    pt_u64 blocks, preemptions, samples;
};

struct pt_cpu_totals {
    pt_u64 duration_ns;
    pt_u64 samples, lost_records, lost_threads;
    pt_u64 cut_stacks, lost_nodes;
    pt_u64 own_cpu_ns; /* CPU time that all this took in the launcher */
};

#endif
