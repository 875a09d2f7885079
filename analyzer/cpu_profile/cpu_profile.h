/* SPDX-License-Identifier: MIT
 *
 * cpu_profile.h - records, from outside, what the threads of a stage do with the CPUs, into cpu-<stage>.pcp.
 *
 *     struct pt_cpu_profile *profile = pt_cpu_profile_new(directory_fd, stage);
 *     pt_cpu_profile_begin(profile);              right before the command is forked
 *     pt_cpu_profile_started(profile, pid);
 *     ... pt_cpu_profile_step(profile, now_ns) when it is due or pt_cpu_profile_fd() is readable ...
 *     pt_cpu_profile_end(profile);
 *
 * Where the kernel refuses perf events there are no samples, only the figures of schedstat for threads that are found
 * alive. Nothing here fails: pt_cpu_profile_note() says what could not be done.
 */
#ifndef PT_CPU_PROFILE_CPU_PROFILE_H
#define PT_CPU_PROFILE_CPU_PROFILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "proftrace/types.h"
#include "util/error.h"

struct pt_cpu_profile;

/* `stage`: its number in run.json. */
struct pt_cpu_profile *pt_cpu_profile_new(int directory_fd, pt_u32 stage);
void pt_cpu_profile_free(struct pt_cpu_profile *profile);
static inline void pt_cpu_profile_freep(struct pt_cpu_profile **profile)
{
    pt_cpu_profile_free(*profile);
}

/* Whether the kernel lets us take samples here; where not, also what would help: "" = nothing is known to. */
int pt_cpu_profile_try(const char **ret_remedy, struct pt_error *err);
/* Children that are forked from here on are recorded from their execve, with all that they start. */
void pt_cpu_profile_begin(struct pt_cpu_profile *profile);
void pt_cpu_profile_started(struct pt_cpu_profile *profile, pid_t pid);
/* Readable when there is much to do; -1 = there is none. */
int pt_cpu_profile_fd(const struct pt_cpu_profile *profile);
/* Do what is due; returns when to call it again at the latest. Times are CLOCK_MONOTONIC. */
pt_u64 pt_cpu_profile_step(struct pt_cpu_profile *profile, pt_u64 now_ns);
/* Whether the caller has to report processes to it, with the next function: without perf events it does not learn of
 * them. */
bool pt_cpu_profile_needs_pids(const struct pt_cpu_profile *profile);
void pt_cpu_profile_add_process(struct pt_cpu_profile *profile, pid_t pid);
/* A child of ours is a zombie now. */
void pt_cpu_profile_ending(struct pt_cpu_profile *profile, pid_t pid);
/* The stage is over; descendants that still run are not recorded any more. */
void pt_cpu_profile_end(struct pt_cpu_profile *profile);

/* What is missing and why; NULL = nothing. */
const char *pt_cpu_profile_note(const struct pt_cpu_profile *profile);

#endif
