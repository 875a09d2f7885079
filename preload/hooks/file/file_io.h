/* SPDX-License-Identifier: MIT
 *
 * file_io.h - calls that take or give a descriptor, made by number.
 */
#ifndef PT_HOOKS_FILE_FILE_IO_H
#define PT_HOOKS_FILE_FILE_IO_H

#include "raw_call.h"

/* Record the call, if it is one of file_io_raw.def. */
void pt_io_made(const struct pt_raw_call *call) __attribute__((visibility("hidden")));

/* Find what nearly every forked child calls. */
void pt_io_find_functions(void) __attribute__((visibility("hidden")));

#endif
