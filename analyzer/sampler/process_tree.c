/* SPDX-License-Identifier: MIT
 *
 * process_tree.c - Owns: the table of processes. Threads: main only. Never: waits for or signals anything.
 *
 * A scan costs one readdir of /proc and one read per descendant: descriptors of their stat files stay open, because
 * opening costs as much as reading.
 */
#include "process_tree.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A foreign pid may be reused by one of our processes: check it again from time to time. */
#define FOREIGN_AGAIN_SCANS 64
#define OPEN_FDS_MAX 512u
/* Of what we may open: two trees look at a stage that is being ended, and there are other files. With the usual 1024
 * that is 256: a process beyond them costs a look twice as much. */
#define OPEN_FDS_SHARE 4u

int pt_tree_open(struct pt_tree *tree, struct pt_error *err)
{
    *tree = (struct pt_tree){.self = getpid()};
    struct rlimit limit;
    const bool is_known = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / OPEN_FDS_SHARE < OPEN_FDS_MAX;
    tree->most_open_fds = is_known ? (pt_u32)(limit.rlim_cur / OPEN_FDS_SHARE) : OPEN_FDS_MAX;
    tree->proc = opendir("/proc");
    if (!tree->proc)
        return pt_fail(err, "cannot read /proc: %s", strerror(errno));
    return 0;
}

static void forget(struct pt_tree *tree, struct pt_tree_entry *entry)
{
    if (entry->stat_fd < 0)
        return;
    close(entry->stat_fd);
    entry->stat_fd = -1;
    tree->open_fds--;
}

void pt_tree_close(struct pt_tree *tree)
{
    for (size_t i = 0; i < tree->n; i++)
        forget(tree, &tree->entries[i]);
    free(tree->entries);
    free(tree->previous);
    if (tree->proc)
        closedir(tree->proc);
    *tree = (struct pt_tree){0};
}

static int compare_pids(const void *a, const void *b)
{
    const struct pt_tree_entry *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

struct pt_tree_entry *pt_tree_find(const struct pt_tree *tree, pid_t pid)
{
    const struct pt_tree_entry key = {.pid = pid};
    return tree->n ? bsearch(&key, tree->entries, tree->n, sizeof key, compare_pids) : NULL;
}

/* ---- one process ---- */
static bool read_entry(struct pt_tree *tree, struct pt_tree_entry *entry)
{
    const bool kept = entry->stat_fd >= 0;
    const int fd = kept ? entry->stat_fd : pt_process_stat_open(entry->pid);
    struct pt_process_stat now;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        return entry->now.start_ticks; /* nothing is known but that it was there: it is no reason to take it for gone */
    const bool alive = fd >= 0 && pt_process_stat_read(fd, &now);
    if (!kept && fd >= 0) {
        if (alive && tree->open_fds < tree->most_open_fds && entry->ownership == PT_PROCESS_OURS) {
            entry->stat_fd = fd;
            tree->open_fds++;
        } else {
            close(fd);
        }
    }
    if (!alive)
        return false;
    entry->now = now;
    return true;
}

/* Update one of our processes from the scan before. False when it has ended; its pid may belong to another process
 * now. */
static bool renew(struct pt_tree *tree, struct pt_tree_entry *entry)
{
    const struct pt_process_stat before = entry->now;
    entry->own_before = before.own_ticks;
    entry->children_before = before.children_ticks;
    if (read_entry(tree, entry) && entry->now.start_ticks == before.start_ticks)
        return true;
    tree->gone_ticks += before.own_ticks + before.children_ticks;
    forget(tree, entry);
    return false;
}

static bool append(struct pt_tree *tree, const struct pt_tree_entry *entry)
{
    if (tree->n == tree->room) {
        const size_t room = tree->room ? tree->room * 2 : 256;
        struct pt_tree_entry *entries = realloc(tree->entries, room * sizeof *entries);
        if (!entries)
            return false;
        tree->entries = entries;
        tree->room = room;
    }
    tree->entries[tree->n++] = *entry;
    return true;
}

/* ---- all processes ---- */
static void add_pid(struct pt_tree *tree, pid_t pid, struct pt_tree_entry *known)
{
    if (known && known->ownership == PT_PROCESS_FOREIGN && tree->scans % FOREIGN_AGAIN_SCANS) {
        append(tree, known);
        return;
    }
    if (known && known->ownership == PT_PROCESS_OURS && renew(tree, known)) {
        if (!append(tree, known))
            forget(tree, known);
        return;
    }
    struct pt_tree_entry entry = {.pid = pid, .stat_fd = -1};
    if (known && known->ownership == PT_PROCESS_FOREIGN)
        entry.now = known->now; /* where it cannot be read now, it is what it was */
    if (pid == tree->self)
        entry.ownership = PT_PROCESS_FOREIGN;
    else if (!read_entry(tree, &entry))
        return;
    /* Read again and still the same process: what it was before it still is. */
    if (known && known->ownership == PT_PROCESS_FOREIGN && entry.now.start_ticks == known->now.start_ticks)
        entry.ownership = PT_PROCESS_FOREIGN;
    append(tree, &entry);
}

/* One that readdir did not show. */
static void keep_if_alive(struct pt_tree *tree, struct pt_tree_entry *known)
{
    if (known->ownership == PT_PROCESS_OURS && renew(tree, known) && !append(tree, known))
        forget(tree, known);
}

static pid_t next_pid(DIR *proc)
{
    for (const struct dirent *entry; (entry = readdir(proc));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            return atoi(entry->d_name);
    return 0;
}

/* Kinship follows from the parent's: repeat until nothing new is learnt. At the first scan what is ours already is not
 * what we are going to trace: children that the program had which became us by exec. */
static void settle_ownership(struct pt_tree *tree)
{
    const enum pt_ownership of_self = tree->scans ? PT_PROCESS_OURS : PT_PROCESS_FOREIGN;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < tree->n; i++) {
            struct pt_tree_entry *entry = &tree->entries[i];
            if (entry->ownership != PT_PROCESS_UNKNOWN)
                continue;
            const pid_t ppid = entry->now.ppid;
            const struct pt_tree_entry *parent = ppid == tree->self ? NULL : pt_tree_find(tree, ppid);
            if (ppid == tree->self)
                entry->ownership = of_self;
            else if (ppid == 0)
                entry->ownership = PT_PROCESS_FOREIGN;
            else if (parent)
                entry->ownership = parent->ownership;
            changed = changed || entry->ownership != PT_PROCESS_UNKNOWN;
        }
    }
}

void pt_tree_scan(struct pt_tree *tree)
{
    struct pt_tree_entry *before = tree->entries;
    const size_t n_before = tree->n;
    const size_t room_before = tree->room;
    tree->entries = tree->previous;
    tree->room = tree->previous_room;
    tree->n = 0;
    tree->gone_ticks = 0;
    rewinddir(tree->proc);
    size_t known = 0;
    for (pid_t pid; (pid = next_pid(tree->proc));) {
        /* Both lists ascend: entries that are skipped here have ended. */
        for (; known < n_before && before[known].pid < pid; known++)
            keep_if_alive(tree, &before[known]);
        const bool is_known = known < n_before && before[known].pid == pid;
        add_pid(tree, pid, is_known ? &before[known] : NULL);
        known += is_known;
    }
    for (; known < n_before; known++)
        keep_if_alive(tree, &before[known]);
    settle_ownership(tree);
    tree->previous = before;
    tree->previous_room = room_before;
    tree->scans++;
}

/* ---- memory ---- */

static bool is_as_large(const struct pt_process_stat *child, const struct pt_process_stat *parent)
{
    const double ratio = (double)child->rss_bytes / (double)(parent->rss_bytes + 1);
    return ratio > 0.9 && ratio < 1.1;
}

/* Read anew by its number: a process that this scan saw for the first time has no open file yet. */
static bool still_is_as_large(const struct pt_tree_entry *entry, const struct pt_process_stat *parent)
{
    struct pt_process_stat again;
    const int fd = pt_process_stat_open(entry->pid);
    if (fd < 0)
        return false;
    const bool is_there = pt_process_stat_read(fd, &again) && again.start_ticks == entry->now.start_ticks;
    close(fd);
    return is_there && is_as_large(&again, parent);
}

/* The kernel is asked only where the sizes agree. */
bool pt_tree_shares_memory_of_parent(const struct pt_tree *tree, const struct pt_tree_entry *entry)
{
    const struct pt_tree_entry *parent = pt_tree_find(tree, entry->now.ppid);
    if (!parent || parent->ownership != PT_PROCESS_OURS || !entry->now.rss_bytes)
        return false;
    if (!is_as_large(&entry->now, &parent->now))
        return false;
    /* It may have become another program since it was read: then what was read was its parent's. */
    return syscall(SYS_kcmp, entry->pid, parent->pid, KCMP_VM, 0, 0) == 0 || !still_is_as_large(entry, &parent->now);
}
