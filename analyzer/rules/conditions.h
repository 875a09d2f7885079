/* SPDX-License-Identifier: MIT
 *
 * conditions.h - conditions that several rules share, so that each finding excludes the others.
 */
#ifndef PT_RULES_CONDITIONS_H
#define PT_RULES_CONDITIONS_H

#include "finding.h"

/* Whether pages of the finding's stage were evicted for lack of memory, and had to be read again. */
bool pt_reads_its_pages_again(const struct pt_profile *profile, const struct pt_finding *finding);

/* Whether it maps files of data. If not, the pages of files that it waits for are its programs' and libraries'. */
bool pt_maps_data(const struct pt_profile *profile, const struct pt_finding *finding);

/* Whether the passes of a training wait for data for a good part of their time. */
bool pt_steps_wait_for_data(const struct pt_profile *profile, const struct pt_finding *finding);

/* What is wrong with a stage's workers: at most one thing. */
enum pt_worker_complaint {
    PT_WORKERS_FINE,
    PT_WORKERS_START,  /* the wait is for their imports */
    PT_WORKERS_UNEVEN, /* all but one have little to do */
    PT_WORKERS_WAIT_FOR_FILES,
    PT_WORKERS_COMPUTE,
    PT_WORKERS_TOO_FEW,
    PT_WORKERS_TOO_MANY,
};
enum pt_worker_complaint pt_worker_complaint(const struct pt_profile *profile, const struct pt_finding *finding);

/* Of the time in which workers do not wait for work, what they wait for a network or sleep, and what they wait in all.
 * NAN = not known, or they mostly wait for work. */
struct pt_worker_waits {
    double other_percent, all_percent;
};
struct pt_worker_waits pt_worker_waits(const struct pt_profile *profile, const struct pt_finding *finding);

/* How many workers are needed where they wait for something else than a CPU: as many more as the main process would
 * take batches faster, and at most eight times as many; those of the training's loader, which each rank has once, and
 * all that live at once. NAN = they do not wait. */
struct pt_workers_needed {
    double of_loader, in_all;
};
struct pt_workers_needed pt_waiting_workers_needed(const struct pt_profile *profile, const struct pt_finding *finding);

/* Of each process that has some: those that it trains with, else all of its own; NAN = not known. */
double pt_workers_of_loader(const struct pt_profile *profile, const struct pt_finding *finding);
/* How many times as fast as now batches must come so that nothing waits for them; NAN = not known, or however fast. */
double pt_times_as_fast(const struct pt_profile *profile, const struct pt_finding *finding);
/* CPUs that the workers of one loader may keep busy: ranks on one machine share its CPUs. NAN = not known. */
double pt_cpus_of_loader(const struct pt_profile *profile, const struct pt_finding *finding);

/* CPU time in which threads of pools, and of the program's own, looked whether there was something to do. */
double pt_looking_for_work_s(const struct pt_profile *profile, const struct pt_finding *finding);

/* While a GPU computes, its training waits for it in any case: what the CPU does then is no gain. Of `inside_s`, which
 * lie in the training, at most the time is left in which the GPU had nothing to do. Without a GPU, all of it. */
void pt_bound_by_idle_gpu(const struct pt_profile *profile, double inside_s, struct pt_finding *finding);

/* How busy the GPU was while the finding's `time_s` went by, which lie in `of_s`. NAN = no GPU, or most of that time
 * may have been before its first work or behind its last. */
double pt_gpu_busy_percent(const struct pt_profile *profile, const struct pt_finding *finding, double of_s);

/* On a busy machine, work that goes away takes with it what it queued for the CPU: by how much more it took. */
double pt_stretch_of(const struct pt_profile *profile, const struct pt_finding *finding);

#endif
