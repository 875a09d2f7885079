/* SPDX-License-Identifier: MIT
 *
 * credentials.h - what has to be ready before a process loses the way to its trace file.
 */
#ifndef PT_HOOKS_PROCESS_CREDENTIALS_H
#define PT_HOOKS_PROCESS_CREDENTIALS_H

/* The process is about to change its user or what it sees of the file system. Room is made once. */
__attribute__((visibility("hidden"))) void pt_leaving_files(void);

#endif
