/* SPDX-License-Identifier: MIT
 *
 * limits.h - limits that both halves keep: if one of them cut a name and the other did not, it would become two names.
 */
#ifndef PROFTRACE_LIMITS_H
#define PROFTRACE_LIMITS_H

#define PT_LIBRARY_NAME "libproftrace.so"

/* Names of stages. A longer one has no effect. */
#define PT_STAGE_MAX_BYTES 127

/* The budget of a session when the user sets none: this much, or this fraction of the free space if that is less. */
#define PT_BUDGET_MAX_BYTES (4ull << 30)
#define PT_BUDGET_FREE_DIVISOR 10

/* A limit in a message. */
#define PT_LIMIT_TEXT(limit) PT_LIMIT_TEXT_(limit)
#define PT_LIMIT_TEXT_(limit) #limit

#endif
