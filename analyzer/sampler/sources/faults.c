/* SPDX-License-Identifier: MIT
 *
 * sources/faults.c - Owns: page faults of the stage's processes. Threads: main only. Never: decreases.
 *
 * The kernel adds the faults of a process that was waited for to those of the process that waited; for processes that
 * we waited for ourselves, wait4 has them. So each fault is in exactly one place at any time.
 */
#include "sampler/process_tree.h"
#include "source.h"

struct faults {
    const struct pt_source_host *host;
    pt_u64 reaped_minor, reaped_major;
    double minor, major;
};

static bool open_faults(void *state, const struct pt_source_host *host)
{
    ((struct faults *)state)->host = host;
    return true;
}

static void look_at_faults(void *state, struct pt_source_look *look)
{
    struct faults *faults = state;
    const struct pt_tree *tree = faults->host->tree; /* the source before this one has just read it */
    pt_u64 minor = faults->reaped_minor, major = faults->reaped_major;
    for (size_t i = 0; i < tree->n; i++) {
        if (tree->entries[i].ownership != PT_PROCESS_OURS)
            continue;
        minor += tree->entries[i].now.minor_faults;
        major += tree->entries[i].now.major_faults;
    }
    /* The faults of a process whose parent does not wait for it are lost. */
    faults->minor = (double)minor > faults->minor ? (double)minor : faults->minor;
    faults->major = (double)major > faults->major ? (double)major : faults->major;
    look->values[PT_RESOURCE_minor_faults] = faults->minor;
    look->values[PT_RESOURCE_major_faults] = faults->major;
}

static void faulting_process_reaped(void *state, pid_t pid, const struct rusage *usage)
{
    struct faults *faults = state;
    const struct pt_tree_entry *entry = pt_tree_find(faults->host->tree, pid);
    if (entry && entry->ownership == PT_PROCESS_FOREIGN)
        return;
    faults->reaped_minor += (pt_u64)usage->ru_minflt;
    faults->reaped_major += (pt_u64)usage->ru_majflt;
}

static void close_faults(void *state)
{
    (void)state;
}

const struct pt_source pt_source_faults = {
    .name = "faults",
    .state_size = sizeof(struct faults),
    .open = open_faults,
    .look = look_at_faults,
    .reaped = faulting_process_reaped,
    .close = close_faults,
};
