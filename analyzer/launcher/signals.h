/* SPDX-License-Identifier: MIT
 *
 * signals.h - signals that are sent to the launcher reach the traced command, each once.
 *
 * Signals from the terminal (Ctrl-C, Ctrl-\, Ctrl-Z, a resized window) and those to the whole group reach the child
 * directly; only those to the launcher alone are forwarded.
 */
#ifndef PT_LAUNCHER_SIGNALS_H
#define PT_LAUNCHER_SIGNALS_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"
#include "child.h"
#include "witness.h"

struct pt_signals {
    int fd; /* readable when a signal waits */
    struct pt_inherited inherited;
    sigset_t ignored; /* ignored when we were started, as under nohup: they must not end us */
    struct pt_witness witness;
};

/* From now on signals wait in a descriptor instead of ending us. */
int pt_signals_take(struct pt_signals *ret_signals, struct pt_error *err);

/* Signals that came before there was a child, also from the terminal: forwarded when it runs. */
void pt_signals_collect(const struct pt_signals *signals, sigset_t *ret_early);
void pt_signals_deliver(const sigset_t *early, pid_t child);

/* What arrived. */
struct pt_signals_seen {
    bool child_changed;
    bool resized;           /* SIGWINCH */
    bool asked;             /* SIGQUIT: where is it? */
    bool asked_group;       /* ... and the command has it already */
    bool asks_child;        /* ... or must have it still */
    int end_signal;         /* SIGINT, SIGTERM, SIGHUP or SIGQUIT, if they are kept; 0 = none */
    bool end_reached_group; /* and the command has it already */
    unsigned n_end_signals;
};

/* Read the pending signals and forward them to `child` (0 = there is none), but for SIGQUIT: the caller does, who looks
 * at the child before. With `keep_end`, signals that ask for an end are ours and not forwarded. */
void pt_signals_read(const struct pt_signals *signals, pid_t child, bool keep_end, struct pt_signals_seen *ret_seen);

/* The launcher is an ordinary process again. */
void pt_signals_release(struct pt_signals *signals);

/* For short work at the end: the first signal that asks for an end is kept until it is done, and `text` goes to
 * stderr (NULL = nothing); the second one ends us. */
void pt_signals_linger(struct pt_signals *signals, const char *text);
/* Which one was kept; 0 = none. */
int pt_signals_kept(void);

#endif
