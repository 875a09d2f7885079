/* SPDX-License-Identifier: MIT
 *
 * switches.h - what commands that start programs read from the environment, and how they prepare their descriptors.
 */
#ifndef PT_CMD_SWITCHES_H
#define PT_CMD_SWITCHES_H

#include <stdbool.h>

/* The variable that switches proftrace off: PROFTRACE_DISABLE=1, or its alias ENABLE_PROFILING=false; NULL = none. */
const char *pt_environment_disabled_by(void);
/* One line on stderr that profiling is disabled, unless PROFTRACE_QUIET is set: a user who forgot the variable would
 * look for a report. */
void pt_say_disabled(const char *what_follows);
/* PROFTRACE_QUIET=1. */
bool pt_environment_says_quiet(void);

/* A descriptor below 3 that the caller left closed must not become one of our files: a message to "stderr" would land
 * in it. A child still finds it closed. */
void pt_fill_standard_descriptors(void);

#endif
