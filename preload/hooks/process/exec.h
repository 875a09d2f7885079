/* SPDX-License-Identifier: MIT
 *
 * exec.h - what other hooks ask of those that begin and end programs.
 */
#ifndef PT_HOOKS_PROCESS_EXEC_H
#define PT_HOOKS_PROCESS_EXEC_H

/* Find what a forked child will call, before the fork. */
void pt_exec_find_functions(void);

/* syscall(SYS_exit_group) or, of the calling thread, syscall(SYS_exit) comes. */
void pt_exiting_by_number(int is_whole_process, int status);

#endif
