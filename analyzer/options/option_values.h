/* SPDX-License-Identifier: MIT
 *
 * option_values.h - what is set in the environment and yet has no effect: the library has no voice to say so.
 */
#ifndef PT_OPTIONS_OPTION_VALUES_H
#define PT_OPTIONS_OPTION_VALUES_H

/* The library ignores longer names of stages: the trace and run.json would disagree. */
enum { PT_STAGE_MAX_BYTES = 127 };

/* What is wrong with one variable, and what to do; texts live until the callback returns. */
typedef void pt_option_warning(void *context, const char *problem, const char *remedy);

/* Look at every PROFTRACE_ variable of a process's environment. */
void pt_check_option_values(char *const *environment, pt_option_warning *warn, void *context);
/* The same, each as one line on stderr. */
void pt_warn_of_option_values(char *const *environment);

#endif
