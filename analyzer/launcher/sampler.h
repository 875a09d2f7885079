/* SPDX-License-Identifier: MIT
 *
 * sampler.h - CPU, memory and number of all descendants of this process, looked at from outside at intervals.
 *
 *     struct pt_sampler *sampler = pt_sampler_new(&err);
 *     pt_sampler_begin(sampler);                               before the command is started
 *     ... pt_sampler_take(sampler, now_ns) at each interval; pt_sampler_reaped() for each child waited for ...
 *     const struct pt_samples *samples = pt_sampler_samples(sampler);
 */
#ifndef PT_LAUNCHER_SAMPLER_H
#define PT_LAUNCHER_SAMPLER_H

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "../util/error.h"
#include "proftrace/schema.h"

#define PT_PSS_UNKNOWN (~0ull)

struct pt_sample {
    pt_u64 t_ns;        /* since the start */
    double cpu_percent; /* of one CPU, since the sample before */
    pt_u64 rss_bytes;   /* sum: pages that processes share count in each */
    pt_u64 pss_bytes;   /* PT_PSS_UNKNOWN = not looked at this time, or not allowed to */
    pt_u32 processes;
    pt_u32 threads;
};

struct pt_samples {
    struct pt_sample *list;
    size_t n;
    pt_u64 rss_max_bytes;   /* of samples, or of one process as the kernel kept it, whichever is more */
    pt_u64 cpu_ns;          /* of everything waited for, and of what still runs as last seen */
    double cpu_percent_max; /* -1 = no sample */
    pt_u32 living;          /* descendants alive at the last look */
};

struct pt_sampler;

struct pt_sampler *pt_sampler_new(struct pt_error *err);
void pt_sampler_free(struct pt_sampler *sampler);

/* What is a child of ours now does not belong to the run. */
void pt_sampler_begin(struct pt_sampler *sampler);
/* Look at all descendants now; `t_ns` since the start. Returns the CPU time that the look cost us. */
pt_u64 pt_sampler_take(struct pt_sampler *sampler, pt_u64 t_ns);
/* A child or an orphan was waited for: what it used is now known exactly. */
void pt_sampler_reaped(struct pt_sampler *sampler, pid_t pid, const struct rusage *usage);
/* What is known so far; valid until the next call. */
const struct pt_samples *pt_sampler_samples(struct pt_sampler *sampler);

#endif
