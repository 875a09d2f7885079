/* SPDX-License-Identifier: MIT
 *
 * apart.h - what comes after a run, in a process of its own: when its memory runs out, or a trace makes it crash, the
 * launcher still ends as its command did.
 */
#ifndef PT_CMD_APART_H
#define PT_CMD_APART_H

#include <stdbool.h>

#include "util/text/wait_status.h"

/* Do work(context), which returns an exit code, and wait for it. Nothing that it changes in memory is changed here.
 * False: it ended in the midst, `ret_how` says how. Where no process can be made, it is done in this one. */
bool pt_apart(int (*work)(void *context), void *context, int *ret_code, char ret_how[static PT_STATUS_TEXT_BYTES]);

/* Say that it ended in the midst, and what to type then for the run at `path`. */
void pt_apart_say(const char *how, const char *path);

#endif
