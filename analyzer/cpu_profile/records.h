/* SPDX-License-Identifier: MIT
 *
 * cpu_profile/records.h - what a profile consists of, and what a record adds to it.
 */
#ifndef PT_CPU_PROFILE_RECORDS_H
#define PT_CPU_PROFILE_RECORDS_H

#include "blocked.h"
#include "images.h"
#include "jit_maps.h"
#include "perf_rings.h"
#include "python/pythons.h"
#include "stack_tree.h"
#include "threads.h"

struct pt_cpu_profile {
    int directory_fd;
    pt_u32 stage, root;
    pt_u64 begin_ns, begin_realtime_ns;
    pt_u64 schedstat_due_ns, write_due_ns, drain_due_ns;
    pt_u64 met_ns, rests_until_ns; /* when samples were looked at last; not before the other */
    bool is_sampling, has_ended;
    bool is_rationed; /* more wait than we have stacks of: it is worth looking more often */
    struct pt_perf_rings rings;
    struct pt_code_modules modules;
    pt_u32 written_modules;
    struct pt_images images;
    struct pt_threads threads;
    struct pt_stack_tree stacks;
    struct pt_blocked blocked;
    struct pt_jit_maps jit_maps;
    struct pt_pythons pythons;
    size_t next_ticked; /* without records: with which thread the next look begins */
    struct pt_chunk_buffer samples;
    struct pt_map counts; /* thread and node -> samples */
    struct pt_cpu_totals totals;
    pt_u64 leaving_paid_ns; /* stacks of threads that leave the CPU are paid for up to this time of the profile */
    struct pt_profile_file file;
    char note[300];
};

/* Times in the file are since the profile began. */
static inline pt_u64 pt_profile_since(const struct pt_cpu_profile *profile, pt_u64 t_ns)
{
    return t_ns > profile->begin_ns ? t_ns - profile->begin_ns : 0;
}

static inline struct pt_jit_maps_to pt_profile_jit_maps_to(const struct pt_cpu_profile *profile)
{
    return (struct pt_jit_maps_to){profile->directory_fd, profile->stage, profile->begin_realtime_ns};
}

/* A sample of a thread that is known. */
void pt_profile_add_sample(struct pt_cpu_profile *profile, struct pt_live_thread *thread, pt_u64 t_ns, pt_u32 node);
/* Let the profile know what a record says. */
void pt_profile_take(struct pt_cpu_profile *profile, const struct pt_perf_record *record);

#endif
