/* SPDX-License-Identifier: MIT
 *
 * readable.h - memory of the host that may not be there: a program that passes a wrong pointer gets an error from the
 * kernel, and must not get SIGSEGV from us.
 */
#ifndef PT_CORE_NAMES_READABLE_H
#define PT_CORE_NAMES_READABLE_H

#include "core/compiler.h"

struct pt_reader {
    pt_u64 page; /* known to be readable: each is asked for once; 1 = none */
};

#pragma GCC visibility push(hidden)
/* May the eight bytes around `at` be read? Makes a system call: only where pt_may_call(). */
int pt_is_readable(struct pt_reader *reader, const void *at);

/* Length of a string of at most `limit` bytes; -1 = it cannot be read. */
long pt_readable_length(struct pt_reader *reader, const char *text, long limit);
#pragma GCC visibility pop

#endif
