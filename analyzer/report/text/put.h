/* SPDX-License-Identifier: MIT
 *
 * put.h - text for a terminal: sanitised, wrapped, cut to its width, plain ASCII where the terminal has no UTF-8.
 */
#ifndef PT_REPORT_TEXT_PUT_H
#define PT_REPORT_TEXT_PUT_H

#include "report/doc/doc.h"
#include "report/render.h"

struct pt_text_out {
    const struct pt_render_options *options;
    struct pt_str *out;
};

/* Clean text, in ASCII where needed. */
void pt_text_put(const struct pt_text_out *t, const char *text);
void pt_text_spaces(const struct pt_text_out *t, pt_u32 n);
/* A blank line before, unless it is the first; bold where there is colour. It may contain the name of a stage. */
void pt_text_heading(const struct pt_text_out *t, const char *heading);
/* Clean text, broken at spaces; later lines begin at column `indent`. */
void pt_text_wrapped(const struct pt_text_out *t, const char *text, pt_u32 indent);
/* The same, with words that are longer than a line cut. */
void pt_text_fitted(const struct pt_text_out *t, const char *text, pt_u32 indent);
/* A value as text, followed by the reason when it is unknown. */
void pt_text_value(const struct pt_text_out *t, struct pt_cell cell);
/* The same, raw and into a string: sanitised, without a line break. */
void pt_text_clean(struct pt_str *out, const char *text);

/* The width of the labels of some lines, so that their values are aligned. */
pt_u32 pt_text_label_width(const struct pt_lines *lines);
void pt_text_line(const struct pt_text_out *t, const struct pt_line *line, const char *indent, pt_u32 label_width);
void pt_text_lines(const struct pt_text_out *t, const struct pt_lines *lines, const char *indent);
/* A table, as wide as the terminal: long texts are cut, then columns are left out from the right. */
void pt_text_table(const struct pt_text_out *t, const struct pt_panel *panel, const char *indent);

#endif
