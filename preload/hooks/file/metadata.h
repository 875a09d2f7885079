/* SPDX-License-Identifier: MIT
 *
 * metadata.h - calls that ask about files or change their names and attributes, made by number.
 */
#ifndef PT_HOOKS_FILE_METADATA_H
#define PT_HOOKS_FILE_METADATA_H

#include "raw_call.h"

/* Record the call, if it is one of metadata_raw.def. */
void pt_meta_made(const struct pt_raw_call *call) __attribute__((visibility("hidden")));

#endif
