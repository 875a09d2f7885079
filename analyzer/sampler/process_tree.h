/* SPDX-License-Identifier: MIT
 *
 * process_tree.h - which processes are descendants of this one.
 *
 * This process is a subreaper, so a descendant's chain of parents always leads here. A process that is not a descendant
 * can never become one, so each foreign process is examined once.
 */
#ifndef PT_LAUNCHER_PROCESS_TREE_H
#define PT_LAUNCHER_PROCESS_TREE_H

#include <dirent.h>
#include <stddef.h>

#include "proftrace/types.h"
#include "util/error.h"
#include "util/process_stat.h"

enum pt_ownership { PT_PROCESS_UNKNOWN, PT_PROCESS_OURS, PT_PROCESS_FOREIGN };

struct pt_tree_entry {
    pid_t pid;
    enum pt_ownership ownership;
    int stat_fd; /* kept open for ours; -1 = first seen in this scan, or too many are open */
    struct pt_process_stat now;
    pt_u64 own_before; /* ticks at the scan before; 0 for a new one */
    pt_u64 children_before;
};

struct pt_tree {
    DIR *proc;
    pid_t self;
    struct pt_tree_entry *entries; /* by pid */
    size_t n, room;
    struct pt_tree_entry *previous; /* the table of the last scan, reused */
    size_t previous_room;
    pt_u64 gone_ticks; /* last known CPU time, with children, of ours that vanished since the scan before */
    pt_u32 scans;
    pt_u32 open_fds, most_open_fds;
};

int pt_tree_open(struct pt_tree *tree, struct pt_error *err);
void pt_tree_close(struct pt_tree *tree);

/* Bring the table up to date. Entries of ours that are there were read in this scan. */
void pt_tree_scan(struct pt_tree *tree);
struct pt_tree_entry *pt_tree_find(const struct pt_tree *tree, pid_t pid);

/* Between vfork and exec a child runs in its parent's memory: counted twice, it would double a large program's peak.
 * True too when it has become another program, or has ended, since the scan: what was read then was its parent's. */
bool pt_tree_shares_memory_of_parent(const struct pt_tree *tree, const struct pt_tree_entry *entry);

#endif
