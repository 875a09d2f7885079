/* SPDX-License-Identifier: MIT
 *
 * sanitize.h - recorded names (paths, argv, thread names) are hostile until they were made safe here: a path may hold
 * escape sequences that repaint a terminal, a `|` that breaks a table, a `=cmd()` that a spreadsheet runs.
 *
 * Each function appends to `out`. Malformed UTF-8 becomes U+FFFD; C0, C1, DEL and bidirectional controls become \xNN or
 * \u{NNNN} as visible text.
 */
#ifndef PT_UTIL_TEXT_SANITIZE_H
#define PT_UTIL_TEXT_SANITIZE_H

#include "util/str.h"

void pt_sanitize_terminal(struct pt_str *out, const char *text);
void pt_sanitize_html(struct pt_str *out, const char *text); /* for text and for quoted attribute values */

#endif
