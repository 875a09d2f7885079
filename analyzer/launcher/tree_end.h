/* SPDX-License-Identifier: MIT
 *
 * tree_end.h - end a whole process tree: send the signal, wait, freeze the rest, kill it, until no process is left.
 *
 *     const struct pt_tree_end_request request = {pt_sampler_tree(sampler), child, SIGTERM, PT_TREE_END_GRACE_NS};
 *     pt_tree_end_begin(&end, &request, now_ns, &err);
 *     while ((due_ns = pt_tree_end_step(&end, now_ns)))
 *         ... poll until due_ns or a child ends; wait for children ...
 *     ... end.n_survivors ...
 *     pt_tree_end_close(&end);
 *
 * Never touches what the given tree knows as foreign, such as a daemon that an earlier stage left, nor a new process
 * with a reused pid.
 */
#ifndef PT_LAUNCHER_TREE_END_H
#define PT_LAUNCHER_TREE_END_H

#include "sampler/process_tree.h"

#define PT_TREE_END_GRACE_NS 5000000000u

enum pt_tree_end_phase { PT_END_ASK, PT_END_INSIST, PT_END_KILL, PT_END_DONE };

struct pt_tree_end {
    struct pt_tree tree; /* our own: looking often must not disturb the sampler's differences */
    /* A child of ours that nobody has waited for, so that its number is its own also where /proc does not show it
     * (hidepid and a program that has gained rights). 0 = none; the caller clears it when it has waited for it. */
    pid_t child;
    bool child_is_unseen; /* it lives, and is not in the tree */
    enum pt_tree_end_phase phase;
    int first_signal;
    pt_u64 insist_ns, kill_ns, give_up_ns;
    pt_u64 pause_ns;    /* between looks */
    pt_u32 empty_looks; /* in a row */
    pt_u32 n_asked;     /* processes that there were at the beginning */
    pt_u32 n_killed;    /* SIGKILLs sent */
    pt_u32 n_survivors; /* at the end: another user's, or stuck in the kernel */
};

struct pt_tree_end_request {
    const struct pt_tree *known; /* scanned before, and not changed */
    pid_t child;                 /* the root of what is to be ended; 0 = it has ended, and was waited for */
    int first_signal;            /* SIGINT or SIGTERM, 0 = the terminal has delivered it already */
    pt_u64 grace_ns;
};

/* Where the first signal is not SIGTERM, that follows after half the grace; after all of it SIGKILL. */
int pt_tree_end_begin(struct pt_tree_end *ret_end, const struct pt_tree_end_request *request, pt_u64 now_ns,
                      struct pt_error *err);
/* Returns when to call again, at the latest; 0 = done. Zombies count as ended; the caller waits for them. */
pt_u64 pt_tree_end_step(struct pt_tree_end *end, pt_u64 now_ns);
/* Ctrl-C again: no more grace. */
void pt_tree_end_hurry(struct pt_tree_end *end, pt_u64 now_ns);
void pt_tree_end_close(struct pt_tree_end *end);

#endif
