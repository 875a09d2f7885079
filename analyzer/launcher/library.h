/* SPDX-License-Identifier: MIT
 *
 * library.h - where libproftrace.so is: next to this executable, or in the library folder of the same prefix.
 */
#ifndef PT_LAUNCHER_LIBRARY_H
#define PT_LAUNCHER_LIBRARY_H

#include "util/error.h"

/* The absolute path of the library, to be freed; NULL with err where it is missing or its path cannot be preloaded. */
char *pt_library_find(struct pt_error *err);

#endif
