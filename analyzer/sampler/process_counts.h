/* SPDX-License-Identifier: MIT
 *
 * process_counts.h - what the kernel has counted for one process since its beginning: bytes to and from storage,
 * context switches, time in the run queue. Each costs a file more, so they are read less often than
 * util/process_stat.h.
 */
#ifndef PT_SAMPLER_PROCESS_COUNTS_H
#define PT_SAMPLER_PROCESS_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "proftrace/types.h"

/* /proc/PID/io: of all its threads, the ended ones too, and of the children it has waited for, and of theirs. */
struct pt_process_io {
    pt_u64 read_bytes, write_bytes;
};

struct pt_task {
    pid_t tid;
    pt_u64 runs; /* how often it was put on a CPU: unchanged = nothing else has changed */
    pt_u64 run_queue_ns, voluntary, involuntary;
};

/* The threads of one process; the ended ones with what they had when they were last seen. */
struct pt_tasks {
    struct pt_task *living; /* by tid */
    size_t n;
    struct pt_task ended; /* the sums */
};

enum pt_io_answer { PT_IO_READ, PT_IO_GONE, PT_IO_DENIED };
enum pt_io_answer pt_process_io_read(pid_t pid, struct pt_process_io *ret_io);

/* `n_threads` as its stat says; a process that has gone keeps what is known. */
void pt_tasks_read(struct pt_tasks *tasks, pid_t pid, pt_u32 n_threads);
struct pt_task pt_tasks_sum(const struct pt_tasks *tasks);
void pt_tasks_free(struct pt_tasks *tasks);

/* The first thread of a process; all that a zombie still has. */
bool pt_task_run_queue_read(pid_t pid, pt_u64 *ret_ns, pt_u64 *ret_runs);

#endif
