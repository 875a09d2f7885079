/* SPDX-License-Identifier: MIT
 *
 * sources/group.c - Owns: how short of memory the stage's own control group is: the time in which its processes wait
 * for memory, and how many of its pages were evicted and read again. The machine's pressure may come from others.
 * Threads: main only. Never: takes the root of all groups, which is the machine, for the stage's; follows a stage into
 * another group than the launcher's.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sampler/cgroup.h"
#include "util/small_file.h"
#include "source.h"

struct group {
    int pressure_fd, stat_fd;
    pt_u64 total_us, start_refaults;
};

/* ---- which group ---- */

/* `only_in`: a file that a group has and the root of all has not; `only_in_root`: the other way round. NULL = none. */
struct place {
    const char *mount, *only_in, *only_in_root;
};

static bool is_group(const char *folder, const struct place *place)
{
    char path[PATH_MAX + 32];
    if (place->only_in) {
        snprintf(path, sizeof path, "%s/%s", folder, place->only_in);
        return access(path, F_OK) == 0;
    }
    snprintf(path, sizeof path, "%s/%s", folder, place->only_in_root);
    return access(folder, F_OK) == 0 && access(path, F_OK) != 0;
}

/* The file of our group, or of the mount's root. -1 = there is none. */
static int open_file(const char *sys, const struct place *place, const char *path, const char *file)
{
    char folder[PATH_MAX];
    const char *const paths[] = {path, ""};
    for (size_t i = 0; i < 2; i++)
        if (pt_cgroup_folder(folder, sys, place->mount, paths[i]) && is_group(folder, place))
            return pt_small_file_open("%s/%s", folder, file);
    return -1;
}

static void open_files(struct group *group, const struct pt_source_host *host)
{
    static const struct place version_1 = {"/memory", NULL, "release_agent"};
    static const struct place version_2[] = {{"", "cgroup.type", NULL}, {"/unified", "cgroup.type", NULL}};
    struct pt_cgroups groups;
    struct pt_cgroup own;
    pt_cgroups_read(&groups, host->proc);
    while (pt_cgroups_next(&groups, "memory", &own)) {
        if (group->stat_fd < 0 && !own.is_version_2)
            group->stat_fd = open_file(host->sys, &version_1, own.path, "memory.stat");
        for (size_t i = 0; i < 2 && own.is_version_2; i++) {
            if (group->pressure_fd < 0)
                group->pressure_fd = open_file(host->sys, &version_2[i], own.path, "memory.pressure");
            if (group->stat_fd < 0)
                group->stat_fd = open_file(host->sys, &version_2[i], own.path, "memory.stat");
        }
    }
}

/* ---- what it says ---- */

static bool read_pressure(int fd, pt_u64 *ret_us)
{
    char text[256];
    if (fd < 0 || pt_small_file_read(fd, text, sizeof text) <= 0)
        return false;
    const char *line = strstr(text, "some ");
    const char *total = line ? strstr(line, "total=") : NULL;
    return total && pt_small_file_number(total, "total=", ret_us);
}

/* With the groups within it: version 1 has sums of its own for that. Kernels before 5.9 have one number. */
static bool read_refaults(int fd, pt_u64 *ret_pages)
{
    static const char *const keys[][2] = {{"total_workingset_refault_anon ", "total_workingset_refault_file "},
                                          {"workingset_refault_anon ", "workingset_refault_file "},
                                          {"total_workingset_refault ", NULL},
                                          {"workingset_refault ", NULL}};
    char text[16384];
    if (fd < 0 || pt_small_file_read(fd, text, sizeof text) <= 0)
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        pt_u64 anon = 0, file = 0;
        if (!pt_small_file_number(text, keys[i][0], &anon))
            continue;
        if (keys[i][1])
            pt_small_file_number(text, keys[i][1], &file);
        *ret_pages = anon + file;
        return true;
    }
    return false;
}

static bool open_group(void *state, const struct pt_source_host *host)
{
    struct group *group = state;
    *group = (struct group){.pressure_fd = -1, .stat_fd = -1};
    open_files(group, host);
    const bool knows_pressure = read_pressure(group->pressure_fd, &group->total_us);
    const bool knows_refaults = read_refaults(group->stat_fd, &group->start_refaults);
    if (!knows_pressure)
        pt_source_unknown(host, PT_RESOURCE_group_memory_pressure_percent,
                          "no control group of version 2 with a memory.pressure around the launcher");
    if (!knows_refaults)
        pt_source_unknown(host, PT_RESOURCE_group_refaults,
                          "no control group with a memory.stat that counts refaults around the launcher");
    return knows_pressure || knows_refaults;
}

static void look_at_group(void *state, struct pt_source_look *look)
{
    struct group *group = state;
    pt_u64 total_us, refaults;
    if (read_pressure(group->pressure_fd, &total_us)) {
        if (look->interval_s > 0 && total_us >= group->total_us)
            look->values[PT_RESOURCE_group_memory_pressure_percent] =
                fmin(100, (double)(total_us - group->total_us) / 1e4 / look->interval_s);
        group->total_us = total_us;
    }
    if (read_refaults(group->stat_fd, &refaults))
        look->values[PT_RESOURCE_group_refaults] =
            refaults > group->start_refaults ? (double)(refaults - group->start_refaults) : 0;
}

static void close_group(void *state)
{
    struct group *group = state;
    if (group->pressure_fd >= 0)
        close(group->pressure_fd);
    if (group->stat_fd >= 0)
        close(group->stat_fd);
}

const struct pt_source pt_source_group = {
    .name = "group",
    .state_size = sizeof(struct group),
    .open = open_group,
    .look = look_at_group,
    .close = close_group,
};
