/* SPDX-License-Identifier: MIT
 *
 * open_run.h - the beginning of each command that takes one run: parse options, accept at most one argument, open the
 * run.
 */
#ifndef PT_CMD_OPEN_RUN_H
#define PT_CMD_OPEN_RUN_H

#include "model/session.h"
#include "report/open.h"
#include "options.h"

/* 0 = opened; 1 = --help was printed; -1 = error. Without an argument the latest run. */
int pt_open_session(const struct pt_opt *table, int argc, char **argv, struct pt_session **ret_session,
                    struct pt_error *err);
/* The same, and run.json; a run without any trace is fine when that is there. Close the run whatever the result. */
int pt_open_run(const struct pt_opt *table, int argc, char **argv, struct pt_run *run, struct pt_error *err);
/* Of a time before the option is parsed, which takes none below 0. */
enum { PT_TIME_NOT_GIVEN = -1 };
/* The same for a run that was analyzed, and of which an option may say how much of its end; afterwards 0 = all of it.
 * Close the report (zeroed before the call) whatever the result. */
int pt_open_report(const struct pt_opt *table, int argc, char **argv, pt_i64 *since_ns, struct pt_report *report,
                   struct pt_error *err);

#endif
