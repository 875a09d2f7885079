/* SPDX-License-Identifier: MIT
 *
 * memory_kills.h - how often the kernel has killed a process for want of memory: on this machine, and in the control
 * groups around this process (cgroup v1 and v2).
 */
#ifndef PT_SAMPLER_MEMORY_KILLS_H
#define PT_SAMPLER_MEMORY_KILLS_H

#include "proftrace/types.h"

enum { PT_MEMORY_KILLS_GROUPS_MAX = 8 };

/* Counts since boot; what is not there stays 0. */
struct pt_memory_kills {
    pt_u64 machine;
    pt_u64 groups[PT_MEMORY_KILLS_GROUPS_MAX]; /* from our own one up to the root */
};

/* `proc`, `sys`: where the machine's files are; NULL = /proc, /sys. */
void pt_memory_kills_read(struct pt_memory_kills *ret_kills, const char *proc, const char *sys);
/* Within our groups between two readings. */
pt_u64 pt_memory_kills_in_groups(const struct pt_memory_kills *before, const struct pt_memory_kills *after);

#endif
