/* SPDX-License-Identifier: MIT
 *
 * text/cut.h - texts and values in columns of a fixed width.
 */
#ifndef PT_REPORT_TEXT_CUT_H
#define PT_REPORT_TEXT_CUT_H

#include "put.h"

/* In columns, also where nobody said how wide a line is. */
pt_u32 pt_text_line_width(const struct pt_text_out *t);
/* Shortened or filled to `width`; right: what is shorter stands at the right. */
void pt_text_cut(const struct pt_text_out *t, const char *text, pt_u32 width, bool right);
void pt_text_cut_cell(const struct pt_text_out *t, struct pt_cell cell, pt_u32 width);
/* In whole percent: enough at a glance. */
void pt_text_cut_share(const struct pt_text_out *t, double percent, pt_u32 width);
/* Without the blanks at its end. */
void pt_text_end_line(const struct pt_text_out *t);

#endif
