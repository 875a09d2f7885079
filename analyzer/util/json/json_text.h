/* SPDX-License-Identifier: MIT
 *
 * json_text.h - a JSON document as text: checked strictly, so that the first mistake is named by line and column, and
 * walked without being parsed, so that a copy with a few values changed keeps every other byte.
 */
#ifndef PT_UTIL_JSON_JSON_TEXT_H
#define PT_UTIL_JSON_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"
#include "util/str.h"

enum {
    PT_JSON_TEXT_MAX_DEPTH = 500,
    PT_JSON_TEXT_MAX_NUMBER = 60, /* bytes: cJSON splits a number that is longer than 63 */
};

/* 0, or -1 with "line 3, column 5: what is wrong; what to do". Stricter than cJSON, which lets through what other
 * readers refuse (control characters in strings, 01, 1.). \u0000 is refused: a C string would end there. */
int pt_json_text_check(const char *text, size_t n, struct pt_error *err);
/* The same, but NaN, Infinity and -Infinity are values, as Python writes them. */
int pt_json_text_check_python(const char *text, size_t n, struct pt_error *err);
/* A copy in which those three have become null. The text must have been checked. */
void pt_json_text_without_nan(const char *text, size_t n, struct pt_str *out);

struct pt_json_span {
    size_t begin, end;
};

struct pt_json_member {
    struct pt_json_span key, value; /* the key with its quotes */
};

/* The value that starts at `at` or behind the space there. The text must have been checked. */
struct pt_json_span pt_json_text_value(const char *text, size_t at);
/* The members of the object whose text starts at `*at` the first time; false after the last, and then *at is its '}'.
 */
bool pt_json_text_next(const char *text, size_t *at, struct pt_json_member *ret_member);

#endif
