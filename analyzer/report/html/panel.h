/* SPDX-License-Identifier: MIT
 *
 * panel.h - panels of a document on a page.
 */
#ifndef PT_REPORT_HTML_PANEL_H
#define PT_REPORT_HTML_PANEL_H

#include "report/doc/doc.h"
#include "util/str.h"

/* What a panel holds, without a heading (a table has its caption, which the style sheet hides where a heading says it).
 */
void pt_html_panel(struct pt_str *out, const struct pt_panel *panel);
/* The same behind its title, which opens it. */
void pt_html_fold(struct pt_str *out, const struct pt_panel *panel);
/* Lines as terms and descriptions. */
void pt_html_lines(struct pt_str *out, const struct pt_lines *lines);
/* Some texts as a list; what is beyond the first few is folded. */
void pt_html_texts(struct pt_str *out, const char *const *texts, pt_u32 n);
/* Lines as they are; NULL-terminated or not, `n` of them. */
void pt_html_log(struct pt_str *out, const char *const *lines, pt_u32 n);
/* One bar beside its name and its length; `scale_s`: what the whole width stands for. */
void pt_html_bar(struct pt_str *out, const struct pt_bar *bar, double scale_s);
/* What the colours of some bars mean, with the sum of each part. */
void pt_html_legend(struct pt_str *out, const struct pt_bar *const *bars, size_t n);

#endif
