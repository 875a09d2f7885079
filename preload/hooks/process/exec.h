/* SPDX-License-Identifier: MIT
 *
 * exec.h - what other hooks ask of those that begin and end programs.
 */
#ifndef PT_HOOKS_PROCESS_EXEC_H
#define PT_HOOKS_PROCESS_EXEC_H

/* Find what a forked child will call, before the fork. */
void pt_exec_find_functions(void);

/* The process, or the calling thread alone, is about to end itself through syscall(). */
void pt_exiting_by_number(int is_whole_process, int status);
/* An exec through syscall() comes, and may fail. */
void pt_becoming_by_number(void);

#endif
