/* SPDX-License-Identifier: MIT
 *
 * define.h - writing definitions: reserve, fill the payload, commit. Core only.
 */
#ifndef PT_CORE_NAMES_DEFINE_H
#define PT_CORE_NAMES_DEFINE_H

#include "core/emit.h"

/* Room for a payload; NULL (counted) when there is none. The thread is attached if need be. */
void *pt_define_begin(pt_u64 payload_bytes, struct pt_tracer_thread **ret_thread);
void pt_define_commit(struct pt_tracer_thread *t, void *payload, enum pt_def_type type, pt_u32 id);

pt_u32 pt_intern_hash(pt_u64 hash, int *ret_is_new);
pt_u64 pt_hash_bytes(const void *data, pt_u64 length, pt_u64 seed);

/* Look up what module definitions need; without it there are no stacks. Constructor. */
void pt_modules_init(void);
/* Make sure that the module around an address is defined. Private stack. */
void pt_define_module_of(pt_u64 address);
/* The same for the one that holds CPython's state, if the program was linked with it: without it nobody could tell
 * the GIL from other locks in a trace that has no stacks. Constructor. */
void pt_define_python(void);
/* An address in no module was met: leave the unwinding, if there is one. */
void pt_unwind_no_module(void);

#endif
