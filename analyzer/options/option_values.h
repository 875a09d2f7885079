/* SPDX-License-Identifier: MIT
 *
 * option_values.h - options in the environment that have no effect: the launcher reports them, because the library
 * prints nothing.
 */
#ifndef PT_OPTIONS_OPTION_VALUES_H
#define PT_OPTIONS_OPTION_VALUES_H

#include <stdbool.h>

#include "proftrace/types.h"

/* A switch in our own environment: set, and to one of the words for on or off. */
bool pt_option_is_on(const char *variable);
bool pt_option_is_off(const char *variable);
/* ENABLE_PROFILING=false, where PROFTRACE_DISABLE=0 does not win over it. */
bool pt_option_is_off_by_alias(void);

/* A limit in our own environment as the library reads it; `name` is that of options.def. What stands for it where it is
 * not set, or to nothing that is understood. */
pt_u64 pt_option_mib_bytes(const char *name);

/* Of samples; a shorter one measures the sampler. */
enum { PT_INTERVAL_MIN_MS = 10 };
/* PROFTRACE_INTERVAL_MS; its default where it is not set, or to nothing that is understood. */
pt_u64 pt_option_interval_ns(void);

/* Whether there is an option for this variable: "PROFTRACE_HEAP", or "PROFTRACE_HEAP=full". */
bool pt_is_option(const char *variable);

/* What is wrong with one variable, and what to do; texts live until the callback returns. */
typedef void pt_option_warning(void *context, const char *problem, const char *remedy);

/* Look at every PROFTRACE_ variable of a process's environment. */
void pt_check_option_values(char *const *environment, pt_option_warning *warn, void *context);
/* The same, each as one line on stderr. */
void pt_warn_of_option_values(char *const *environment);

#endif
