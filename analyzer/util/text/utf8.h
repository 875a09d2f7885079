/* SPDX-License-Identifier: MIT
 *
 * utf8.h - names in a trace are arbitrary bytes; this says which of them are text.
 */
#ifndef PT_UTIL_TEXT_UTF8_H
#define PT_UTIL_TEXT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed character at `bytes` (1..4), its code point in *ret_code; 0 when the bytes are malformed
 * (overlong, surrogate, above U+10FFFF, cut): replace one byte by U+FFFD and go on with the next. n > 0. */
size_t pt_utf8_next(const char *bytes, size_t n, uint32_t *ret_code);

/* Characters that change how the rest of a line is shown, or are not visible: C0, C1, bidirectional, invisible. */
bool pt_utf8_is_control(uint32_t code);

/* "\uNNNN" as JSON writes a character, two of them beyond U+FFFF: 6 or 12 bytes to `to`; their number. */
size_t pt_utf8_json_escape(char *to, uint32_t code);

/* After a text was written into `room` bytes, and perhaps cut there: no part of a character stays at its end. */
void pt_utf8_trim(char *text, size_t room);

/* Is all of it well-formed? */
bool pt_utf8_valid(const char *text);

#define PT_UTF8_REPLACEMENT "\xef\xbf\xbd"

#endif
