/* SPDX-License-Identifier: MIT
 *
 * commands.h - what a stage runs and waits for: which command is new or slower, and where the program starts it. What
 * a child computes is in the time account as computing, so that the command says whose time that is.
 */
#ifndef PT_DIFF_COMMANDS_H
#define PT_DIFF_COMMANDS_H

#include "change.h"

/* The command that was waited for longer by at least half of `by` seconds (shorter where that is below 0); NULL = none
 * is, or events were lost that would tell. */
const struct pt_change *pt_command_behind(const struct pt_stage_pair *pair, double by);
/* The command whose number of runs changed most; NULL = none did, or events were lost that would tell. */
const struct pt_change *pt_command_counted(const struct pt_stage_pair *pair);
/* "/usr/bin/git in train.py:7 probe: the runs (0 -> 6)"; without the place where nobody knows it. */
void pt_put_command(struct pt_str *out, const struct pt_stage_pair *pair, const struct pt_change *command);

#endif
