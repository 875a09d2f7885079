/* SPDX-License-Identifier: MIT
 *
 * json_walk.h - where the values of a JSON text lie, so that some can be changed in a copy while every other byte stays
 * the same: cJSON would write 1700000000000000 as 1.7e+15. Each text must have been accepted by json_text.h.
 */
#ifndef PT_UTIL_JSON_JSON_WALK_H
#define PT_UTIL_JSON_JSON_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "util/str.h"

struct pt_json_span {
    size_t begin, end;
};

struct pt_json_member {
    struct pt_json_span key, value; /* the key with its quotes */
};

/* The value that starts at `at` or behind the space there. */
struct pt_json_span pt_json_text_value(const char *text, size_t at);
/* The members of the object whose text starts at `*at` the first time; false after the last, and then *at is its '}'.
 */
bool pt_json_text_next(const char *text, size_t *at, struct pt_json_member *ret_member);

/* A copy in which NaN, Infinity and -Infinity have become null. */
void pt_json_text_without_nan(const char *text, size_t n, struct pt_str *out);

#endif
