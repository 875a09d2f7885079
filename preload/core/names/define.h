/* SPDX-License-Identifier: MIT
 *
 * define.h - writing definitions: reserve, fill the payload, commit.
 */
#ifndef PT_CORE_NAMES_DEFINE_H
#define PT_CORE_NAMES_DEFINE_H

#include "core/thread.h"

/* Room for a payload; NULL (counted) when there is none. The thread is attached if need be. */
void *pt_define_begin(pt_u64 payload_bytes, struct pt_tracer_thread **ret_thread);
void pt_define_commit(struct pt_tracer_thread *t, void *payload, enum pt_def_type type, pt_u32 id);

/* A stack of `n` frames, at most PT_STACK_FRAMES. On the private stack of `t`, which is claimed. */
void pt_define_stack(struct pt_tracer_thread *t, const pt_u64 *frames, pt_u32 n, pt_u32 id);

/* List a program that will run without us, with the reason. */
void pt_define_untraced(pt_u32 path, const char *reason);

#endif
