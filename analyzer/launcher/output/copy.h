/* SPDX-License-Identifier: MIT
 *
 * output/copy.h - from what a stage writes to, to the log and to our own stdout and stderr.
 */
#ifndef PT_LAUNCHER_OUTPUT_COPY_H
#define PT_LAUNCHER_OUTPUT_COPY_H

#include <poll.h>

#include "channel.h"

#define PT_OUTPUT_POLL_MAX 4

/* At most PT_OUTPUT_POLL_MAX; returns how many. *due_ns is lowered to when to pump at the latest. */
int pt_output_poll_fds(const struct pt_output *output, pt_u64 now_ns, struct pollfd *ret_fds, pt_u64 *due_ns);

/* Copy what is there; at most some MiB, so that signals and samples are handled in between. Never waits. */
void pt_output_pump(struct pt_output *output, pt_u64 now_ns);

/* The stage's root has ended: copy what it wrote, and what its other processes write while they end, such as `>
 * >(tee)` in a script. False while the destination is full or more is left. */
bool pt_output_drain(struct pt_output *output, pt_u64 now_ns);

/* From now on a read returns the end when no other process can write. */
void pt_output_close_child(struct pt_output_channel *channel);

/* With our own writing end closed: put the rest into the log, and count what could not be forwarded. True: another
 * process has a writing end. */
bool pt_output_read_rest(struct pt_output *output, struct pt_output_channel *channel);

#endif
