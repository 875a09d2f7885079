/* SPDX-License-Identifier: MIT
 *
 * raw_call.h - a system call that has been made by its number.
 */
#ifndef PT_HOOKS_FILE_RAW_CALL_H
#define PT_HOOKS_FILE_RAW_CALL_H

#include "core/compiler.h"

struct pt_raw_call {
    long number;
    long arguments[6];
    pt_u64 start;
    pt_u64 end;
    long ret;
};

/* The head of a function that records one: names for the arguments, as the rows of <family>_raw.def use them. */
#define PT_RAW_ARGUMENTS(call)                                                                                         \
    const long a = (call)->arguments[0], b = (call)->arguments[1], c = (call)->arguments[2], d = (call)->arguments[3]; \
    const pt_u64 start = (call)->start, end = (call)->end;                                                             \
    const long ret = (call)->ret

#endif
