/* SPDX-License-Identifier: MIT
 *
 * session.h - the run directory: joined when a parent made it, made when we are the first.
 *
 * Constructor only. Afterwards pt_session_path and pt_session_page are read-only pointers (the page's counters are
 * atomic).
 */
#ifndef PT_CORE_SESSION_H
#define PT_CORE_SESSION_H

#include "compiler.h"

extern char pt_session_path[512] __attribute__((visibility("hidden")));               /* absolute */
extern struct pt_session_page *pt_session_page __attribute__((visibility("hidden"))); /* NULL = no budget known */

/* Join PROFTRACE_SESSION or make <root>/<stamp>-<name>-<id>. Returns 1 when it made one, 0 when it joined, -1 when
 * nothing can be recorded here. */
int pt_session_open(const char *command);

/* Count a process that is not recorded. */
void pt_session_refuse(void);

#endif
