/* SPDX-License-Identifier: MIT
 *
 * sanitize_markdown.h - hostile text in a page of Markdown: see sanitize.h.
 */
#ifndef PT_UTIL_TEXT_SANITIZE_MARKDOWN_H
#define PT_UTIL_TEXT_SANITIZE_MARKDOWN_H

#include "util/str.h"

void pt_sanitize_markdown(struct pt_str *out, const char *text); /* a table cell, running text, a line's beginning */
void pt_sanitize_markdown_html(struct pt_str *out, const char *text); /* text in an HTML block of a Markdown page */

#endif
