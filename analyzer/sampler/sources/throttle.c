/* SPDX-License-Identifier: MIT
 *
 * sources/throttle.c - Owns: how long the CPU quota of a control group held the stage back. Threads: main only. Never:
 * follows a stage that moves into another group than the launcher's.
 *
 * Every group from ours up to the root can have a quota (cpu.max, or cpu.cfs_quota_us in version 1); the longest time
 * counts, because a group that is throttled throttles all groups in it.
 */
#include <unistd.h>

#include "sampler/cgroup.h"
#include "util/small_file.h"
#include "source.h"

enum { GROUPS_MAX = 8 };

struct throttle {
    struct {
        int fd;
        bool is_version_2;
        pt_u64 start_ns;
    } groups[GROUPS_MAX];
    size_t n;
};

static bool throttled_ns(int fd, bool is_version_2, pt_u64 *ret_ns)
{
    char text[1024];
    if (pt_small_file_read(fd, text, sizeof text) <= 0)
        return false;
    if (!is_version_2)
        return pt_small_file_number(text, "throttled_time ", ret_ns);
    pt_u64 us = 0;
    const bool is_there = pt_small_file_number(text, "throttled_usec ", &us);
    *ret_ns = us * 1000;
    return is_there;
}

static void add_group(struct throttle *throttle, const char *folder, bool is_version_2)
{
    const int fd = throttle->n < GROUPS_MAX ? pt_small_file_open("%s/cpu.stat", folder) : -1;
    pt_u64 ns = 0;
    if (fd < 0)
        return;
    if (!throttled_ns(fd, is_version_2, &ns)) {
        close(fd);
        return;
    }
    throttle->groups[throttle->n].fd = fd;
    throttle->groups[throttle->n].is_version_2 = is_version_2;
    throttle->groups[throttle->n++].start_ns = ns;
}

static bool open_throttle(void *state, const struct pt_source_host *host)
{
    struct throttle *throttle = state;
    char folder[PATH_MAX];
    struct pt_cgroups groups;
    struct pt_cgroup own;
    pt_cgroups_read(&groups, host->proc);
    while (pt_cgroups_next(&groups, "cpu", &own))
        do {
            if (pt_cgroup_folder(folder, host->sys, own.is_version_2 ? "" : "/cpu", own.path))
                add_group(throttle, folder, own.is_version_2);
        } while (pt_cgroup_go_up(own.path));
    if (!throttle->n)
        pt_source_unknown(host, PT_RESOURCE_cpu_throttled_s, "no control group with a cpu.stat that counts throttling");
    return throttle->n > 0;
}

static void look_at_throttle(void *state, struct pt_source_look *look)
{
    struct throttle *throttle = state;
    pt_u64 most_ns = 0;
    for (size_t i = 0; i < throttle->n; i++) {
        pt_u64 ns;
        if (!throttled_ns(throttle->groups[i].fd, throttle->groups[i].is_version_2, &ns))
            return;
        const pt_u64 since_ns = ns > throttle->groups[i].start_ns ? ns - throttle->groups[i].start_ns : 0;
        most_ns = since_ns > most_ns ? since_ns : most_ns;
    }
    look->values[PT_RESOURCE_cpu_throttled_s] = (double)most_ns / 1e9;
}

static void close_throttle(void *state)
{
    struct throttle *throttle = state;
    for (size_t i = 0; i < throttle->n; i++)
        close(throttle->groups[i].fd);
}

const struct pt_source pt_source_throttle = {
    .name = "throttle",
    .state_size = sizeof(struct throttle),
    .open = open_throttle,
    .look = look_at_throttle,
    .close = close_throttle,
};
