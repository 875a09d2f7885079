/* SPDX-License-Identifier: MIT
 *
 * witness.h - tells a signal to the whole process group from a signal to us alone.
 *
 * `kill %1` and `kill -INT -PGID` reach the traced command directly, and passing them on would deliver them twice: a
 * second SIGINT makes many programs give up their clean end. Nothing in siginfo tells the two apart. So a small process
 * of ours stands in the same group and only keeps what arrives: what it got too, the command got.
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
