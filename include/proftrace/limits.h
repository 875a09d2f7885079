/* SPDX-License-Identifier: MIT
 *
 * limits.h - what both halves hold to: a name that one of them cuts and the other does not would be two.
 */
#ifndef PROFTRACE_LIMITS_H
#define PROFTRACE_LIMITS_H

#define PT_LIBRARY_NAME "libproftrace.so"

/* Names of stages. A longer one has no effect. */
#define PT_STAGE_MAX_BYTES 127

/* Of a session whose budget nobody has set: so much, or this part of the free space if that is less. */
#define PT_BUDGET_MAX_BYTES (4ull << 30)
#define PT_BUDGET_FREE_DIVISOR 10

/* A limit in a message. */
#define PT_LIMIT_TEXT(limit) PT_LIMIT_TEXT_(limit)
#define PT_LIMIT_TEXT_(limit) #limit

#endif
