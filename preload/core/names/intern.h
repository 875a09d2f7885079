/* SPDX-License-Identifier: MIT
 *
 * intern.h - strings, stacks and modules become 32-bit ids; each is defined once in the file.
 *
 * Lock-free: an id is the index of a hash in a table that only grows; whoever wins the slot writes the definition.
 */
#ifndef PT_CORE_NAMES_INTERN_H
#define PT_CORE_NAMES_INTERN_H

#include <wchar.h>

#include "core/compiler.h"

/* Id of a string (a path, a name); 0 when it is NULL or nothing could be recorded. The string must be readable: call it
 * only after the real function has accepted it (not after EFAULT). Cut at 4096 bytes. */
pt_u32 pt_intern_string(const char *string);
pt_u32 pt_intern_bytes(const char *bytes, pt_u64 length);
/* Id of the text with secrets masked (commands). */
pt_u32 pt_intern_redacted(const char *string);
/* Id of the caller's native stack; 0 when stacks are off, the rate cap bites or it cannot be taken. */
pt_u32 pt_intern_stack(void);
/* Id of "first: text", or of the text alone when `first` is NULL; 0 when `text` is NULL. The pointers must be good. */
pt_u32 pt_intern_name(const char *first, const char *text);
pt_u32 pt_intern_wide_name(const char *first, const wchar_t *text);
/* List a program that will run without us, with the reason. */
void pt_define_untraced(pt_u32 path, const char *reason);

#endif
