/* SPDX-License-Identifier: MIT
 *
 * signals.h - signals that somebody sends to the launcher reach the traced command, each once.
 *
 * What the terminal sends (Ctrl-C, Ctrl-\, Ctrl-Z, a resized window) goes to the whole foreground group, so the child
 * has had it already; only what was sent to the launcher itself is passed on. The two differ in siginfo's code.
 */
#ifndef PT_LAUNCHER_SIGNALS_H
#define PT_LAUNCHER_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

#include "../util/error.h"
#include "child.h"

/* From now on signals wait in a descriptor (returned) instead of ending us; what was before goes to ret_inherited. */
int pt_signals_take(struct pt_inherited *ret_inherited, struct pt_error *err);

/* Read what waits there. Returns true when a child changed its state. */
bool pt_signals_forward(int signal_fd, pid_t child);

/* The launcher is an ordinary process again: a second Ctrl-C may end it. */
void pt_signals_release(const struct pt_inherited *inherited);

#endif
