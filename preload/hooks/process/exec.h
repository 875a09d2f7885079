/* SPDX-License-Identifier: MIT
 *
 * exec.h - what other hooks of processes ask of those of the exec family.
 */
#ifndef PT_HOOKS_PROCESS_EXEC_H
#define PT_HOOKS_PROCESS_EXEC_H

/* Find what a forked child will call, before the fork. */
void pt_exec_find_functions(void);

#endif
