/* SPDX-License-Identifier: MIT
 *
 * log_tail.h - the last lines of a stage's log, as a terminal would have left them.
 */
#ifndef PT_REPORT_LOG_TAIL_H
#define PT_REPORT_LOG_TAIL_H

#include "run_file/run_file.h"
#include "util/arena.h"

enum { PT_LOG_TAIL_LINES = 20 };

struct pt_log_tail {
    const char *lines[PT_LOG_TAIL_LINES];
    unsigned n;
};

/* `name` is below the run directory, as run.json has it; anything else is not ours to show. NULL = there is no log. */
struct pt_log_tail pt_log_tail(const char *run_directory, const char *name, struct pt_arena *arena);
/* The lines of the stacks that the launcher took, and how many; NULL = it took none. */
unsigned pt_stack_lines(const char *stacks, const char *ret_lines[static PT_RUN_STUCK_LINES], struct pt_arena *arena);

#endif
