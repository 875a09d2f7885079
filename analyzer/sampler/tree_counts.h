/* SPDX-License-Identifier: MIT
 *
 * tree_counts.h - totals of a whole process tree: storage bytes, context switches, time in the run queue, of the living
 * and of those that have ended.
 *
 * What the kernel does with the numbers of a process that was waited for:
 *   storage bytes     go to the parent's /proc/PID/io. So the sum over the living, and over what we waited for
 *                     ourselves, is the whole; the bytes of a zombie of ours are read before it is waited for.
 *   context switches  go to where only wait4 shows them. Until then what was seen of the process is kept at its parent.
 *   run queue         goes nowhere. What was seen last is all: a lower bound.
 */
#ifndef PT_SAMPLER_TREE_COUNTS_H
#define PT_SAMPLER_TREE_COUNTS_H

#include <sys/resource.h>

#include "process_counts.h"
#include "process_tree.h"

struct pt_counted_process {
    pid_t pid, ppid;
    pt_u64 start_ticks;
    pt_u64 looked_ticks; /* its CPU time when it was read last */
    bool is_gone, is_reaped, is_denied;
    struct pt_process_io io;
    struct pt_tasks tasks;
    pt_u64 left_voluntary, left_involuntary; /* seen of children that it waited for */
};

struct pt_tree_counts {
    struct pt_counted_process *list, *previous; /* by pid */
    size_t n, room, previous_room;
    pt_u32 looks;
    bool has_too_many_threads;
    /* of what we waited for */
    struct pt_process_io reaped_io;
    pt_u64 reaped_voluntary, reaped_involuntary;
    /* of processes of which nothing more will be known */
    struct pt_task lost;
    struct {
        pid_t pid;
        struct pt_process_io io;
        bool is_known;
    } ending;
};

struct pt_tree_totals {
    double read_bytes, write_bytes, voluntary, involuntary, run_queue_s; /* NAN = unknown now */
};

/* After a scan of the tree. `all`: read all processes now. */
void pt_tree_counts_look(struct pt_tree_counts *counts, const struct pt_tree *tree, bool all);
void pt_tree_counts_ending(struct pt_tree_counts *counts, pid_t pid);
void pt_tree_counts_reaped(struct pt_tree_counts *counts, pid_t pid, const struct rusage *usage);
struct pt_tree_totals pt_tree_counts_totals(const struct pt_tree_counts *counts);
void pt_tree_counts_free(struct pt_tree_counts *counts);

#endif
