/* SPDX-License-Identifier: MIT
 *
 * memory_limit.h - how full memory is: the machine's, and that of each control group around this process which has a
 * limit (cgroup v1 and v2).
 */
#ifndef PT_SAMPLER_MEMORY_LIMIT_H
#define PT_SAMPLER_MEMORY_LIMIT_H

#include <stddef.h>

#include "proftrace/types.h"

enum { PT_MEMORY_GROUPS_MAX = 8 };

struct pt_memory_limit {
    int meminfo_fd;
    struct pt_memory_group {
        int usage_fd, stat_fd;
        pt_u64 limit_bytes;
        const char *inactive_key; /* page cache that can be given back at once */
    } groups[PT_MEMORY_GROUPS_MAX];
    size_t n_groups;
};

/* -1 = there is no meminfo; errno says why. */
int pt_memory_limit_open(struct pt_memory_limit *limit, const char *proc, const char *sys);
/* Percent of the machine or of the group that is fullest; NAN = unknown. */
double pt_memory_limit_percent(struct pt_memory_limit *limit);
/* The smallest limit around this process, that of the machine included; 0 = unknown. */
pt_u64 pt_memory_limit_now(void);
void pt_memory_limit_close(struct pt_memory_limit *limit);

#endif
