/* SPDX-License-Identifier: MIT
 *
 * raw_syscall.h - what the hook of syscall() asks of the families.
 */
#ifndef PT_HOOKS_RAW_SYSCALL_H
#define PT_HOOKS_RAW_SYSCALL_H

#include "../core/emit.h"

#pragma GCC visibility push(hidden)
/* A seccomp(operation, ...) is about to happen. */
void pt_sandbox_seccomp(long operation);
/* It was refused: the switches are as before. */
void pt_sandbox_refused(const struct pt_switches *before);
/* A statx has happened. */
void pt_meta_asked(pt_u64 start, pt_u64 end, int dir, const char *path, int flags, int ret);
#pragma GCC visibility pop

#endif
