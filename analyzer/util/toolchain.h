/* SPDX-License-Identifier: MIT
 *
 * util/toolchain.h - which sources are the compiler's or the C library's, and no program's own.
 */
#ifndef PT_UTIL_TOOLCHAIN_H
#define PT_UTIL_TOOLCHAIN_H

#include <stdbool.h>

/* A header that was put into the program, or a library's own source; `source`: NULL = unknown, and none. */
bool pt_is_of_toolchain(const char *source);

#endif
