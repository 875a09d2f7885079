/* SPDX-License-Identifier: MIT
 *
 * value.h - texts and values in HTML. The page is well-formed XML, too, so that tests can parse it strictly; every
 * recorded text passes pt_html_text or pt_html_cell.
 */
#ifndef PT_REPORT_HTML_VALUE_H
#define PT_REPORT_HTML_VALUE_H

#include "report/doc/show.h"

enum { PT_HTML_LONGEST_TEXT = 2000, PT_HTML_LONGEST_CELL = 240 };

/* Escaped, and cut when very long. NULL = nothing. */
void pt_html_text(struct pt_str *out, const char *text);
/* A value; unknown is a dash with its reason as a tooltip. */
void pt_html_cell(struct pt_str *out, struct pt_cell cell);
/* The same, cut to `longest` characters. */
void pt_html_cell_cut(struct pt_str *out, struct pt_cell cell, pt_u32 longest);
/* Unknown: the reason as text, too. */
void pt_html_cell_and_reason(struct pt_str *out, struct pt_cell cell);
/* <tag class="class">text</tag>; class NULL = none. */
void pt_html_element(struct pt_str *out, const char *tag, const char *class, const char *text);
/* "ok" as a badge: a word in a box, its colour says the same again. */
void pt_html_badge(struct pt_str *out, const char *word);

#endif
