/* SPDX-License-Identifier: MIT
 *
 * redact.h - arguments without the secrets in them, by the rule of proftrace/redact.h.
 */
#ifndef PT_UTIL_TEXT_REDACT_H
#define PT_UTIL_TEXT_REDACT_H

#include "proftrace/redact.h"

/* One argument after the other of a command line; `line` begins as {0}. A new string, NULL when memory is
 * out: show PT_REDACT_MASK then. */
char *pt_redacted(const char *argument, struct pt_redact_line *line);

#endif
