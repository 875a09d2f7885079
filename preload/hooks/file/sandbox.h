/* SPDX-License-Identifier: MIT
 *
 * sandbox.h - a program gives up system calls by number.
 */
#ifndef PT_HOOKS_FILE_SANDBOX_H
#define PT_HOOKS_FILE_SANDBOX_H

#include "core/state.h"

#pragma GCC visibility push(hidden)
/* A seccomp(operation, ...) is about to happen. */
void pt_sandbox_seccomp(long operation);
/* It was refused: the switches are as before. */
void pt_sandbox_refused(const struct pt_switches *before);
#pragma GCC visibility pop

#endif
