/* SPDX-License-Identifier: MIT
 *
 * intern_name.h - ids of names that come in two parts or in wide characters, as NVTX and ITT give them.
 */
#ifndef PT_CORE_NAMES_INTERN_NAME_H
#define PT_CORE_NAMES_INTERN_NAME_H

#include <wchar.h>

#include "core/compiler.h"

/* Id of "first: text", or of the text alone when `first` is NULL; 0 when `text` is NULL. The pointers must be good. */
pt_u32 pt_intern_name(const char *first, const char *text);
pt_u32 pt_intern_wide_name(const char *first, const wchar_t *text);

#endif
