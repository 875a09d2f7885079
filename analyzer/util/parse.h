/* SPDX-License-Identifier: MIT
 *
 * parse.h - values as they are written in options and environment variables; 0, or -1 with exit code 2.
 */
#ifndef PT_UTIL_PARSE_H
#define PT_UTIL_PARSE_H

#include "error.h"
#include "proftrace/types.h"

int pt_parse_count(const char *text, pt_u64 *ret_count, struct pt_error *err);
int pt_parse_size(const char *text, pt_u64 *ret_bytes, struct pt_error *err);
/* Without a unit: seconds. */
int pt_parse_duration(const char *text, pt_i64 *ret_ns, struct pt_error *err);
/* Without a unit: milliseconds. */
int pt_parse_milliseconds(const char *text, pt_i64 *ret_ns, struct pt_error *err);

#endif
