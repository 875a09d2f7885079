/* SPDX-License-Identifier: MIT
 *
 * sandbox.h - a program gives up system calls by number.
 */
#ifndef PT_HOOKS_FILE_SANDBOX_H
#define PT_HOOKS_FILE_SANDBOX_H

#include "core/sandbox.h"

/* What has to be undone if the kernel refuses; or (UNSEAL) done if it does not. */
struct pt_sandbox {
    enum { PT_SANDBOX_NONE, PT_SANDBOX_FILTER, PT_SANDBOX_SEAL, PT_SANDBOX_UNSEAL } kind;
    pt_u8 was_frozen;
    pt_u8 was_sealed; /* the calling thread */
};

#pragma GCC visibility push(hidden)
/* A seccomp(operation, ...) is about to happen. */
struct pt_sandbox pt_sandbox_seccomp(long operation);
/* A prctl(option, a, ...) is about to happen. */
struct pt_sandbox pt_sandbox_prctl(int option, long a);
/* It is over. Refused: all is as before. */
void pt_sandbox_answered(const struct pt_sandbox *sandbox, int is_refused);
#pragma GCC visibility pop

#endif
