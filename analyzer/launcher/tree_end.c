/* SPDX-License-Identifier: MIT
 *
 * tree_end.c - Owns: which signal goes to which descendant, and when. Threads: main only. Never: signals a process that
 * it has not just seen as ours, or that is a child, waits.
 */
#include "tree_end.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/mem.h"

#define PAUSE_FIRST_NS 2000000u
#define PAUSE_LAST_NS 100000000u
#define UNKNOWN_SCANS 3
#define EMPTY_LOOKS 4             /* a process that forks and ends all the time can be missed by one reading of /proc */
#define FREEZE_ROUNDS 20          /* of a step: a fork bomb must not keep the caller from its other work */
#define GIVE_UP_NS 5000000000u    /* after the first SIGKILL: it is stuck in the kernel, or not ours to kill */
#define SCANS_LOOK_AT_FOREIGN 64u /* the scan that also checks pids again that were foreign */

/* ---- one process ---- */
/* The pid may belong to another process since the scan: open it, then check that it is still the same one. */
static int send_signal(const struct pt_tree_entry *entry, int number)
{
    const bool is_open = entry->stat_fd >= 0;
    const int stat_fd = is_open ? entry->stat_fd : pt_process_stat_open(entry->pid);
    const int pidfd = (int)syscall(SYS_pidfd_open, entry->pid, 0);
    struct pt_process_stat now;
    const bool same = stat_fd >= 0 && pt_process_stat_read(stat_fd, &now) && now.start_ticks == entry->now.start_ticks;
    int result = -1;
    if (same && pidfd >= 0)
        result = (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
    else if (same) /* a kernel without pidfds, or no descriptor left */
        result = kill(entry->pid, number);
    if (stat_fd >= 0 && !is_open)
        close(stat_fd);
    if (pidfd >= 0)
        close(pidfd);
    return result;
}

static bool is_living(const struct pt_tree_entry *entry)
{
    return entry->ownership == PT_PROCESS_OURS && pt_process_is_living(&entry->now);
}

/* ---- all of them ---- */
static bool has_unknown(const struct pt_tree *tree)
{
    for (size_t i = 0; i < tree->n; i++)
        if (tree->entries[i].ownership == PT_PROCESS_UNKNOWN)
            return true;
    return false;
}

/* If its parent ended between the two reads, the next scan shows its new parent. */
static void scan(struct pt_tree *tree)
{
    pt_tree_scan(tree);
    for (int again = 0; again < UNKNOWN_SCANS && has_unknown(tree); again++)
        pt_tree_scan(tree);
}

/* The kernel tells a parent of its child, whatever /proc shows. */
static bool is_unseen(const struct pt_tree_end *end)
{
    const struct pt_tree_entry *entry = end->child ? pt_tree_find(&end->tree, end->child) : NULL;
    siginfo_t info = {0};
    return end->child && !(entry && is_living(entry)) &&
           waitid(P_PID, (id_t)end->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
}

static pt_u32 look(struct pt_tree_end *end)
{
    scan(&end->tree);
    pt_u32 living = 0;
    for (size_t i = 0; i < end->tree.n; i++)
        living += is_living(&end->tree.entries[i]);
    end->child_is_unseen = is_unseen(end);
    living += end->child_is_unseen;
    end->n_survivors = living;
    end->empty_looks = living ? 0 : end->empty_looks + 1;
    return living;
}

static void signal_all(struct pt_tree_end *end, int number)
{
    for (size_t i = 0; i < end->tree.n; i++) {
        const struct pt_tree_entry *entry = &end->tree.entries[i];
        if (!is_living(entry))
            continue;
        if (number)
            send_signal(entry, number);
        /* What is stopped cannot hear. */
        if (entry->now.state == 'T')
            send_signal(entry, SIGCONT);
    }
    if (end->child_is_unseen && number)
        kill(end->child, number);
}

/* Stop all processes before any is killed: one that sees its child die might start another. */
static void freeze_all(struct pt_tree_end *end)
{
    for (int round = 0; round < FREEZE_ROUNDS; round++) {
        bool moving = false;
        for (size_t i = 0; i < end->tree.n; i++) {
            const struct pt_tree_entry *entry = &end->tree.entries[i];
            if (is_living(entry) && entry->now.state != 'T' && entry->now.state != 't')
                moving = send_signal(entry, SIGSTOP) == 0 || moving;
        }
        if (!moving)
            return;
        look(end);
    }
}

static void kill_all(struct pt_tree_end *end)
{
    freeze_all(end);
    for (size_t i = 0; i < end->tree.n; i++)
        if (is_living(&end->tree.entries[i]) && send_signal(&end->tree.entries[i], SIGKILL) == 0)
            end->n_killed++;
    if (end->child_is_unseen && kill(end->child, SIGKILL) == 0)
        end->n_killed++;
}

/* ---- the phases ---- */
int pt_tree_end_begin(struct pt_tree_end *ret_end, const struct pt_tree_end_request *request, pt_u64 now_ns,
                      struct pt_error *err)
{
    const struct pt_tree *known = request->known;
    *ret_end = (struct pt_tree_end){
        .child = request->child, .first_signal = request->first_signal, .pause_ns = PAUSE_FIRST_NS};
    ret_end->insist_ns = now_ns + request->grace_ns / 2;
    ret_end->kill_ns = now_ns + request->grace_ns;
    ret_end->give_up_ns = ret_end->kill_ns + GIVE_UP_NS;
    struct pt_tree *tree = &ret_end->tree;
    if (pt_tree_open(tree, err) < 0)
        return pt_error_context(err, "ending the stage's processes");
    tree->entries = pt_calloc(known->n + 1, sizeof *tree->entries);
    tree->n = known->n;
    tree->room = known->n + 1;
    if (known->n)
        memcpy(tree->entries, known->entries, known->n * sizeof *tree->entries);
    for (size_t i = 0; i < tree->n; i++)
        tree->entries[i].stat_fd = -1;
    tree->scans = SCANS_LOOK_AT_FOREIGN;
    ret_end->n_asked = look(ret_end);
    signal_all(ret_end, request->first_signal);
    return 0;
}

static void advance(struct pt_tree_end *end, pt_u64 now_ns)
{
    if (end->phase == PT_END_ASK && now_ns >= end->insist_ns) {
        end->phase = PT_END_INSIST;
        end->pause_ns = PAUSE_FIRST_NS;
        if (end->first_signal != SIGTERM)
            signal_all(end, SIGTERM);
    }
    if (end->phase == PT_END_INSIST && now_ns >= end->kill_ns) {
        end->phase = PT_END_KILL;
        end->pause_ns = PAUSE_FIRST_NS;
    }
}

pt_u64 pt_tree_end_step(struct pt_tree_end *end, pt_u64 now_ns)
{
    if (end->phase == PT_END_DONE)
        return 0;
    look(end);
    if (end->empty_looks >= EMPTY_LOOKS || (end->phase == PT_END_KILL && now_ns >= end->give_up_ns)) {
        end->phase = PT_END_DONE;
        return 0;
    }
    if (end->empty_looks)
        return now_ns + PAUSE_FIRST_NS;
    advance(end, now_ns);
    if (end->phase == PT_END_KILL)
        kill_all(end);
    pt_u64 due_ns = now_ns + end->pause_ns;
    end->pause_ns = end->pause_ns * 2 < PAUSE_LAST_NS ? end->pause_ns * 2 : PAUSE_LAST_NS;
    if (end->phase == PT_END_ASK && due_ns > end->insist_ns)
        due_ns = end->insist_ns;
    if (end->phase == PT_END_INSIST && due_ns > end->kill_ns)
        due_ns = end->kill_ns;
    return due_ns;
}

void pt_tree_end_hurry(struct pt_tree_end *end, pt_u64 now_ns)
{
    if (end->phase != PT_END_ASK && end->phase != PT_END_INSIST)
        return;
    end->phase = PT_END_KILL;
    end->pause_ns = PAUSE_FIRST_NS;
    end->give_up_ns = now_ns + GIVE_UP_NS;
}

void pt_tree_end_close(struct pt_tree_end *end)
{
    pt_tree_close(&end->tree);
}
