/* SPDX-License-Identifier: MIT
 *
 * sandbox.h - whether the library may still make system calls in this thread.
 *
 * Under a seccomp filter any call of ours may end the process. A filter that the program sets up through libc is seen
 * by a hook before it holds; one that it sets up with an instruction of its own is found here, by the only question
 * that can be asked: prctl(PR_GET_SECCOMP). Where even that is forbidden nothing can be done.
 */
#ifndef PT_CORE_SANDBOX_H
#define PT_CORE_SANDBOX_H

#include "state.h"

#pragma GCC visibility push(hidden)
/* May the library make system calls in this thread? Asked at the beginning of each slow path. */
int pt_may_call(void);

/* From now on, this is the kernel's answer where no filter has come. Constructor. */
void pt_sandbox_remember(void);

#pragma GCC visibility pop

#endif
