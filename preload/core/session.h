/* SPDX-License-Identifier: MIT
 *
 * session.h - the run directory: joined when a parent made it, made when we are the first.
 *
 * Constructor only; afterwards pt_session_path is only read.
 */
#ifndef PT_CORE_SESSION_H
#define PT_CORE_SESSION_H

#include "compiler.h"
#include "proftrace/limits.h"

extern char pt_session_path[PT_RUN_PATH_MAX_BYTES + 2] __attribute__((visibility("hidden"))); /* absolute */

/* Join PROFTRACE_SESSION or make <root>/<stamp>-<name>-<id>. Returns 1 when it made one, 0 when it joined, -1 when
 * nothing can be recorded here, PT_SESSION_OF_OUR_COMMAND when it is that, which makes none. */
#define PT_SESSION_OF_OUR_COMMAND (-2)
int pt_session_open(const char *command);

#endif
