/* SPDX-License-Identifier: MIT
 *
 * signals.h - signals that somebody sends to the launcher reach the traced command, each once.
 *
 * What the terminal sends (Ctrl-C, Ctrl-\, Ctrl-Z, a resized window) and what is sent to the whole group has reached
 * the child already; only what was sent to the launcher alone is passed on.
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
    sigset_t ignored; /* before we came, as under nohup: nobody shall end us by these */
    struct pt_witness witness;
};

/* From now on signals wait in a descriptor instead of ending us. */
int pt_signals_take(struct pt_signals *ret_signals, struct pt_error *err);

/* What came before there was a child to hear it, from the terminal too: to be passed on once it runs. */
void pt_signals_collect(const struct pt_signals *signals, sigset_t *ret_early);
void pt_signals_deliver(const sigset_t *early, pid_t child);

/* What arrived. */
struct pt_signals_seen {
    bool child_changed;
    bool resized;           /* SIGWINCH */
    int end_signal;         /* SIGINT, SIGTERM, SIGHUP or SIGQUIT, if they are kept; 0 = none */
    bool end_reached_group; /* and the command has it already */
    unsigned n_end_signals;
};

/* Read what waits there and pass it on to `child` (0 = there is none). With `keep_end` the signals that ask for an end
 * are for us: they are not passed on. */
void pt_signals_read(const struct pt_signals *signals, pid_t child, bool keep_end, struct pt_signals_seen *ret_seen);

/* The launcher is an ordinary process again. */
void pt_signals_release(struct pt_signals *signals);

/* Instead: something short is left to do. The first signal that asks for an end is kept until then, and `text` goes to
 * stderr (NULL = nothing); the second ends us. */
void pt_signals_linger(struct pt_signals *signals, const char *text);
/* Which one was kept; 0 = none. */
int pt_signals_kept(void);

#endif
