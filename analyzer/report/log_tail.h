/* SPDX-License-Identifier: MIT
 *
 * log_tail.h - the last lines of a stage's log, as a terminal would have left them.
 */
#ifndef PT_REPORT_LOG_TAIL_H
#define PT_REPORT_LOG_TAIL_H

#include "util/arena.h"

enum { PT_LOG_TAIL_LINES = 20 };

struct pt_log_tail {
    const char *lines[PT_LOG_TAIL_LINES];
    unsigned n;
};

/* `name` is below the run directory, as run.json has it; anything else is not ours to show. NULL = there is no log. */
struct pt_log_tail pt_log_tail(const char *run_directory, const char *name, struct pt_arena *arena);

#endif
