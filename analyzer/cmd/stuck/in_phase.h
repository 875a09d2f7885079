/* SPDX-License-Identifier: MIT
 *
 * in_phase.h - does a training that marks no steps hang within one?
 */
#ifndef PT_CMD_STUCK_IN_PHASE_H
#define PT_CMD_STUCK_IN_PHASE_H

#include <stdbool.h>

#include "proftrace/types.h"

/* A thread of a program that runs is in a part of a training step (a backward pass, an update, a collective ...) that
 * it has come through before, within the last `window_ns`. `path` is the run directory. */
bool pt_stuck_is_in_phase(const char *path, pt_u64 window_ns);

#endif
