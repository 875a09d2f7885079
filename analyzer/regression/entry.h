/* SPDX-License-Identifier: MIT
 *
 * entry.h - is a run of a baseline's file as `proftrace baseline add` writes them? Somebody may have edited it.
 */
#ifndef PT_REGRESSION_ENTRY_H
#define PT_REGRESSION_ENTRY_H

#include <cjson/cJSON.h>

/* What is wrong with it, to go behind "run 3"; NULL = nothing. */
const char *pt_entry_fault(const cJSON *entry);
/* A key that an object has twice: which of the two holds, nobody can tell. NULL = none. */
const char *pt_json_repeated_key(const cJSON *object);

#endif
