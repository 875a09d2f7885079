/* SPDX-License-Identifier: MIT
 *
 * usable_cpus.c - Owns: the limits on the CPUs of this process. Threads: main only. Never: follows a limit that is
 * changed later, nor a stage that limits itself.
 */
#include "usable_cpus.h"

#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#include "run_file/run_file.h"
#include "util/small_file.h"
#include "cgroup.h"

/* Larger machines than a cpu_set_t has bits for are asked again with more. */
static double by_affinity(void)
{
    for (int cpus = CPU_SETSIZE; cpus <= PT_RUN_MOST_CPUS; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        const size_t size = CPU_ALLOC_SIZE(cpus);
        const int n = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (n > 0)
            return n;
    }
    return NAN;
}

/* "150000 100000" in version 2, where the quota may be "max"; in version 1 a file for each, and -1 for no quota. */
static double quota_of(const char *folder, bool is_version_2)
{
    char quota[64], period[64] = "", *end;
    pt_small_file_word(quota, sizeof quota, "%s/%s", folder, is_version_2 ? "cpu.max" : "cpu.cfs_quota_us");
    if (!is_version_2)
        pt_small_file_word(period, sizeof period, "%s/cpu.cfs_period_us", folder);
    const double quota_us = strtod(quota, &end);
    const double period_us = strtod(is_version_2 ? end : period, NULL);
    return quota_us > 0 && period_us > 0 ? ceil(quota_us / period_us) : NAN;
}

/* Every group from ours up to the root can have a quota. */
static double by_quota(const char *proc, const char *sys)
{
    char folder[PATH_MAX];
    struct pt_cgroups groups;
    struct pt_cgroup own;
    double least = NAN;
    pt_cgroups_read(&groups, proc);
    while (pt_cgroups_next(&groups, "cpu", &own))
        do {
            if (pt_cgroup_folder(folder, sys, own.is_version_2 ? "" : "/cpu", own.path))
                least = fmin(least, quota_of(folder, own.is_version_2)); /* NAN only if both are */
        } while (pt_cgroup_go_up(own.path));
    return least;
}

double pt_usable_cpus(const char *proc, const char *sys)
{
    return fmin(by_affinity(), by_quota(proc, sys));
}
