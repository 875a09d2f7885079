/* SPDX-License-Identifier: MIT
 *
 * memory_kills.c - Owns: where the kernel counts these kills. Threads: main only. Never: needs rights that an ordinary
 * user has not: the kernel's log is not asked.
 */
#include "memory_kills.h"

#include <stdio.h>
#include <unistd.h>

#include "util/small_file.h"
#include "cgroup.h"

static pt_u64 count_in(const char *folder, const char *file)
{
    char text[1024];
    pt_u64 kills = 0;
    if (pt_small_file_peek(text, sizeof text, "%s/%s", folder, file) > 0)
        pt_small_file_number(text, "oom_kill ", &kills);
    return kills;
}

void pt_memory_kills_read(struct pt_memory_kills *ret_kills, const char *proc, const char *sys)
{
    char text[32768], folder[PATH_MAX];
    struct pt_cgroups groups;
    struct pt_cgroup own;
    size_t n = 0;
    proc = proc ? proc : "/proc";
    *ret_kills = (struct pt_memory_kills){0};
    if (pt_small_file_peek(text, sizeof text, "%s/vmstat", proc) > 0)
        pt_small_file_number(text, "oom_kill ", &ret_kills->machine);
    pt_cgroups_read(&groups, proc);
    while (pt_cgroups_next(&groups, "memory", &own)) {
        /* The innermost that is to be seen: those around it count what became of others, too. */
        bool is_there = false;
        do {
            is_there = pt_cgroup_folder(folder, sys ? sys : "/sys", own.is_version_2 ? "" : "/memory", own.path) &&
                       access(folder, F_OK) == 0;
            if (is_there && n < PT_MEMORY_KILLS_GROUPS_MAX)
                ret_kills->groups[n++] = count_in(folder, own.is_version_2 ? "memory.events" : "memory.oom_control");
        } while (!is_there && pt_cgroup_go_up(own.path));
    }
}

/* Version 2 counts a kill in each group around it, version 1 only in one. */
pt_u64 pt_memory_kills_in_groups(const struct pt_memory_kills *before, const struct pt_memory_kills *after)
{
    pt_u64 most = 0;
    for (size_t i = 0; i < PT_MEMORY_KILLS_GROUPS_MAX; i++) {
        const pt_u64 now = after->groups[i] > before->groups[i] ? after->groups[i] - before->groups[i] : 0;
        most = now > most ? now : most;
    }
    return most;
}
