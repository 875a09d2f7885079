/* SPDX-License-Identifier: MIT
 *
 * posix_names.h - the names of signals and errors. glibc has functions for both, but only from 2.32 on.
 */
#ifndef PT_UTIL_TEXT_POSIX_NAMES_H
#define PT_UTIL_TEXT_POSIX_NAMES_H

/* "SEGV", "ENOENT"; NULL = a number without a name. */
const char *pt_signal_name(int number);
const char *pt_error_name(int number);

#endif
