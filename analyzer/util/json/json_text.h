/* SPDX-License-Identifier: MIT
 *
 * json_text.h - a JSON document as text, checked strictly: the first mistake is named by line and column.
 */
#ifndef PT_UTIL_JSON_JSON_TEXT_H
#define PT_UTIL_JSON_JSON_TEXT_H

#include <stddef.h>

#include "util/error.h"

enum {
    PT_JSON_TEXT_MAX_DEPTH = 500,
    PT_JSON_TEXT_MAX_VALUES = 8 << 20, /* two bytes of a list ("0,") take eighty of memory when parsed */
    PT_JSON_TEXT_MAX_NUMBER = 60,      /* bytes: cJSON splits a number that is longer than 63 */
};

/* 0, or -1 with "line 3, column 5: what is wrong; what to do". Stricter than cJSON, which accepts what other readers
 * refuse (control characters in strings, 01, 1.). \u0000 is refused: a C string would end there. */
int pt_json_text_check(const char *text, size_t n, struct pt_error *err);
/* The same, but NaN, Infinity and -Infinity are values, as Python writes them. */
int pt_json_text_check_python(const char *text, size_t n, struct pt_error *err);

#endif
