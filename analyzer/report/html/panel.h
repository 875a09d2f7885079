/* SPDX-License-Identifier: MIT
 *
 * panel.h - panels of a document on a page.
 */
#ifndef PT_REPORT_HTML_PANEL_H
#define PT_REPORT_HTML_PANEL_H

#include "report/doc/doc.h"
#include "util/str.h"

/* The contents of a panel, without a heading (a table has its caption, which the style sheet hides where there is a
 * heading).
 */
void pt_html_panel(struct pt_str *out, const struct pt_panel *panel);
/* The same, folded under its title. */
void pt_html_fold(struct pt_str *out, const struct pt_panel *panel);
/* Lines as terms and descriptions. */
void pt_html_lines(struct pt_str *out, const struct pt_lines *lines);
/* Some texts as a list; what is beyond the first few is folded. */
void pt_html_texts(struct pt_str *out, const char *const *texts, pt_u32 n);
/* Lines as they are; NULL-terminated or not, `n` of them. */
void pt_html_log(struct pt_str *out, const char *const *lines, pt_u32 n);
/* One bar with its name and its length; `scale_s`: the time of the whole width. */
void pt_html_bar(struct pt_str *out, const struct pt_bar *bar, double scale_s);
/* The legend of some bars, with the sum of each part. */
void pt_html_legend(struct pt_str *out, const struct pt_bar *const *bars, size_t n);

#endif
