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

/* The program sets no_new_privs by a call that is seen, as its filters will be: that alone is none. */
void pt_sandbox_expect_no_new_privs(void);

/* The caller is a vfork child that closes a filter, in its parent's memory; or the kernel refused it. */
void pt_sandbox_is_vfork_childs(void);
void pt_sandbox_is_nobodys(void);
/* Whether this is a vfork child in a filter of its own: who it is cannot be asked any more. */
int pt_sandbox_is_of_vfork_child(void);
/* A vfork child is about to leave its parent's memory: a filter that it has closed is its own. 1 = it has. */
int pt_sandbox_vfork_child_leaves(void);
/* It could not leave. */
void pt_sandbox_vfork_child_stays(void);

#pragma GCC visibility pop

#endif
