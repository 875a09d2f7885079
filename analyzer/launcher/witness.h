/* SPDX-License-Identifier: MIT
 *
 * witness.h - distinguishes a signal to the whole process group from one to us alone.
 *
 * `kill %1` and `kill -INT -PGID` reach the traced command directly, and forwarding them would deliver them twice: at a
 * second SIGINT many programs abandon their clean end. siginfo does not show the difference. So a small process of ours
 * is in the same group and only records what arrives: what it got, the command got, too.
 */
#ifndef PT_LAUNCHER_WITNESS_H
#define PT_LAUNCHER_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct pt_witness {
    pid_t pid; /* 0 = there is none: every signal counts as ours alone */
    int fd;
};

/* `watched` is blocked already. */
void pt_witness_start(struct pt_witness *ret_witness, const sigset_t *watched);
void pt_witness_end(struct pt_witness *witness);

/* Did this signal reach the group since we last asked? */
bool pt_witness_saw(const struct pt_witness *witness, int number);

#endif
