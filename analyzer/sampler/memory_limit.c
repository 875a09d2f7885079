/* SPDX-License-Identifier: MIT
 *
 * memory_limit.c - Owns: the memory limits of this process. Threads: main only. Never: follows a limit that is changed
 * later; counts page cache, which the kernel frees when memory is needed.
 */
#include "memory_limit.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/small_file.h"
#include "cgroup.h"

/* The two generations of control groups, and where each keeps what. */
struct hierarchy {
    const char *mount, *limit, *usage, *inactive_key;
};

static const struct hierarchy version_2 = {"", "memory.max", "memory.current", "inactive_file "};
static const struct hierarchy version_1 = {"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                           "total_inactive_file "};

static pt_u64 machine_bytes(int fd, pt_u64 *ret_available)
{
    char text[4096];
    pt_u64 total_kib = 0, available_kib = 0;
    if (pt_small_file_read(fd, text, sizeof text) <= 0 || !pt_small_file_number(text, "MemTotal:", &total_kib) ||
        !pt_small_file_number(text, "MemAvailable:", &available_kib))
        return 0;
    *ret_available = available_kib * 1024;
    return total_kib * 1024;
}

static void add_group(struct pt_memory_limit *limit, const struct hierarchy *hierarchy, const char *folder,
                      pt_u64 machine)
{
    char text[32], *end;
    pt_small_file_word(text, sizeof text, "%s/%s", folder, hierarchy->limit);
    const pt_u64 bytes = strtoull(text, &end, 10);
    /* "max", or nearly 2^63 in version 1, or more than there is: no limit. */
    if (end == text || bytes == 0 || bytes >= machine || limit->n_groups == PT_MEMORY_GROUPS_MAX)
        return;
    struct pt_memory_group *group = &limit->groups[limit->n_groups];
    group->limit_bytes = bytes;
    group->inactive_key = hierarchy->inactive_key;
    group->usage_fd = pt_small_file_open("%s/%s", folder, hierarchy->usage);
    if (group->usage_fd < 0)
        return;
    group->stat_fd = pt_small_file_open("%s/memory.stat", folder);
    limit->n_groups++;
}

/* Every group from ours up to the root can have a limit. */
static void open_groups(struct pt_memory_limit *limit, const char *proc, const char *sys, pt_u64 machine)
{
    char folder[PATH_MAX];
    struct pt_cgroups groups;
    struct pt_cgroup own;
    pt_cgroups_read(&groups, proc);
    while (pt_cgroups_next(&groups, "memory", &own)) {
        const struct hierarchy *hierarchy = own.is_version_2 ? &version_2 : &version_1;
        do {
            if (pt_cgroup_folder(folder, sys, hierarchy->mount, own.path))
                add_group(limit, hierarchy, folder, machine);
        } while (pt_cgroup_go_up(own.path));
    }
}

int pt_memory_limit_open(struct pt_memory_limit *limit, const char *proc, const char *sys)
{
    pt_u64 available;
    *limit = (struct pt_memory_limit){.meminfo_fd = pt_small_file_open("%s/meminfo", proc)};
    if (limit->meminfo_fd < 0)
        return -1;
    open_groups(limit, proc, sys, machine_bytes(limit->meminfo_fd, &available));
    return 0;
}

static double group_percent(const struct pt_memory_group *group)
{
    char text[8192];
    pt_u64 used = 0, inactive = 0;
    if (pt_small_file_read(group->usage_fd, text, 64) <= 0 || !pt_small_file_number(text, "", &used))
        return NAN;
    if (group->stat_fd >= 0 && pt_small_file_read(group->stat_fd, text, sizeof text) > 0)
        pt_small_file_number(text, group->inactive_key, &inactive);
    used = used > inactive ? used - inactive : 0;
    return fmin(100, 100.0 * (double)used / (double)group->limit_bytes);
}

double pt_memory_limit_percent(struct pt_memory_limit *limit)
{
    pt_u64 available = 0;
    const pt_u64 total = machine_bytes(limit->meminfo_fd, &available);
    double percent = total && available <= total ? 100.0 * (double)(total - available) / (double)total : NAN;
    for (size_t i = 0; i < limit->n_groups; i++)
        percent = fmax(percent, group_percent(&limit->groups[i]));
    return percent;
}

pt_u64 pt_memory_limit_now(void)
{
    struct pt_memory_limit limit;
    pt_u64 available;
    if (pt_memory_limit_open(&limit, "/proc", "/sys") < 0)
        return 0;
    pt_u64 bytes = machine_bytes(limit.meminfo_fd, &available);
    for (size_t i = 0; i < limit.n_groups; i++)
        bytes = limit.groups[i].limit_bytes < bytes ? limit.groups[i].limit_bytes : bytes;
    pt_memory_limit_close(&limit);
    return bytes;
}

void pt_memory_limit_close(struct pt_memory_limit *limit)
{
    if (limit->meminfo_fd >= 0)
        close(limit->meminfo_fd);
    for (size_t i = 0; i < limit->n_groups; i++) {
        close(limit->groups[i].usage_fd);
        if (limit->groups[i].stat_fd >= 0)
            close(limit->groups[i].stat_fd);
    }
    limit->n_groups = 0;
}
