/* SPDX-License-Identifier: MIT
 *
 * intern.h - strings, stacks and modules become 32-bit ids; each is defined once in the file.
 *
 * Lock-free: an id is the index of a hash in a table that only grows; the thread that wins the slot writes the
 * definition.
 */
#ifndef PT_CORE_NAMES_INTERN_H
#define PT_CORE_NAMES_INTERN_H

#include "core/compiler.h"

/* Id of a string (a path, a name); 0 when it is NULL or nothing could be recorded. The string must be readable: call it
 * only after the real function has accepted it (not after EFAULT). Cut at 4096 bytes. */
pt_u32 pt_intern_string(const char *string);
pt_u32 pt_intern_bytes(const char *bytes, pt_u64 length);
/* Id of the text with secrets masked (commands). */
pt_u32 pt_intern_redacted(const char *string);

/* The id of a hash; *ret_is_new when the caller has to define it. 0 = the table is full. */
pt_u32 pt_intern_hash(pt_u64 hash, int *ret_is_new);
pt_u64 pt_hash_bytes(const void *data, pt_u64 length, pt_u64 seed);

#endif
