/* SPDX-License-Identifier: MIT
 *
 * sampler.h - samples from outside what a stage uses, at intervals: its process tree and the machine around it.
 *
 *     struct pt_sampler *sampler = pt_sampler_new(&options, &err);
 *     pt_sampler_begin(sampler);                               before the command is started
 *     ... pt_sampler_take(sampler, now_ns) at each interval; pt_sampler_reaped() for each child waited for ...
 *     const struct pt_samples *samples = pt_sampler_samples(sampler);
 */
#ifndef PT_SAMPLER_SAMPLER_H
#define PT_SAMPLER_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "proftrace/schema.h"
#include "run_file/run_file.h"
#include "util/error.h"

struct pt_sampler_options {
    bool no_gpu; /* do not sample GPUs */
    /* Where the machine's files are; NULL = /proc, /sys. The process tree is always the real one. */
    const char *proc, *sys;
};

struct pt_sample {
    pt_u64 t_ns;                       /* since the start */
    double values[PT_RESOURCE__COUNT]; /* NAN = not known this time */
};

enum { PT_SAMPLED_GPUS_MAX = 32 };

struct pt_samples {
    double *t_s; /* of the samples, since the start */
    size_t n;
    struct pt_run_resource resources[PT_RESOURCE__COUNT];
    pt_u64 rss_max_bytes;   /* of samples, or of one process as the kernel kept it, whichever is more */
    pt_u64 cpu_ns;          /* of everything waited for, and of what still runs as last seen */
    double cpu_percent_max; /* NAN = no sample */
    pt_u32 living;          /* descendants alive at the last sample */
    char gpus[PT_SAMPLED_GPUS_MAX][96];
    size_t n_gpus;
    const char *gpu_names[PT_SAMPLED_GPUS_MAX + 1]; /* the same, NULL-terminated */
};

struct pt_sampler;
struct pt_tree;

struct pt_sampler *pt_sampler_new(const struct pt_sampler_options *options, struct pt_error *err);
/* Close its files and end its helpers; what it sampled stays until it is freed. */
void pt_sampler_stop(struct pt_sampler *sampler);
void pt_sampler_free(struct pt_sampler *sampler);

/* What is a child of ours now does not belong to the stage. Everything is counted from here. */
void pt_sampler_begin(struct pt_sampler *sampler);
/* Sample all descendants now; `t_ns` since the start. Returns the CPU time that this took. */
pt_u64 pt_sampler_take(struct pt_sampler *sampler, pt_u64 t_ns);
/* A child of ours is a zombie now: what its /proc files still say is read before it is waited for. */
void pt_sampler_ending(struct pt_sampler *sampler, pid_t pid);
/* A child or an orphan was waited for: what it used is now known exactly. */
void pt_sampler_reaped(struct pt_sampler *sampler, pid_t pid, const struct rusage *usage);
/* The latest sample; all unknown before the first. */
const struct pt_sample *pt_sampler_last(const struct pt_sampler *sampler);
/* Look once more, and exactly, for the totals; call it when the stage is over. Valid as long as the sampler. */
const struct pt_samples *pt_sampler_samples(struct pt_sampler *sampler);
/* The same while the stage still runs, from the last sample; takes none itself. */
const struct pt_samples *pt_sampler_so_far(struct pt_sampler *sampler);
/* The processes of the stage, from the last sample. */
struct pt_tree *pt_sampler_tree(struct pt_sampler *sampler);

#endif
