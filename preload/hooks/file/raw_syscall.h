/* SPDX-License-Identifier: MIT
 *
 * raw_syscall.h - what the hook of syscall() asks of the families.
 */
#ifndef PT_HOOKS_FILE_RAW_SYSCALL_H
#define PT_HOOKS_FILE_RAW_SYSCALL_H

#include "core/emit.h"

#pragma GCC visibility push(hidden)
/* A seccomp(operation, ...) is about to happen. */
void pt_sandbox_seccomp(long operation);
/* It was refused: the switches are as before. */
void pt_sandbox_refused(const struct pt_switches *before);

/* A system call that has been made. */
struct pt_raw_call {
    long number;
    long arguments[6];
    pt_u64 start;
    pt_u64 end;
    long ret;
};
/* Record it, if it is one of the family's: the rows of <family>_raw.def. */
void pt_io_made(const struct pt_raw_call *call);
void pt_meta_made(const struct pt_raw_call *call);
#pragma GCC visibility pop

/* The head of such a function: names for the arguments, as the rows use them. */
#define PT_RAW_ARGUMENTS(call)                                                                                         \
    const long a = (call)->arguments[0], b = (call)->arguments[1], c = (call)->arguments[2], d = (call)->arguments[3]; \
    const pt_u64 start = (call)->start, end = (call)->end;                                                             \
    const long ret = (call)->ret

#endif
