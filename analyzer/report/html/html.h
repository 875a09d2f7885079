/* SPDX-License-Identifier: MIT
 *
 * html.h - the parts of report.html, private to html*.c. The page is well-formed XML, too, so that tests can parse it
 * strictly; every recorded text passes pt_html_text or pt_html_value.
 */
#ifndef PT_REPORT_HTML_HTML_H
#define PT_REPORT_HTML_HTML_H

#include <string.h>

#include "report/doc/doc.h"
#include "util/str.h"

enum { PT_HTML_MOST_ROWS = 200, PT_HTML_LONGEST_TEXT = 2000, PT_HTML_LONGEST_CELL = 240 };

/* On paper: rows of a table of details, and only those of the stage that took longest. The style sheet knows it, too.
 */
enum { PT_HTML_PAPER_ROWS = 5, PT_HTML_PAPER_BARS = 8 };

extern const char *const pt_html_style[];

static inline bool pt_html_is(const struct pt_node *node, const char *key)
{
    return node->key && !strcmp(node->key, key);
}

/* Escaped, and cut when longer than anybody reads. */
void pt_html_text(struct pt_str *out, const char *text);
/* The value of a node; unknown is a dash with its reason as a tooltip. NULL = unknown. */
void pt_html_value(struct pt_str *out, const struct pt_node *node);
/* Unknown: the reason as text, too. */
void pt_html_value_and_reason(struct pt_str *out, const struct pt_node *node);
/* The number of a child; NAN when it is unknown or absent. */
double pt_html_number(const struct pt_node *node, const char *key);
/* The text of a child; NULL when it is unknown or absent. */
const char *pt_html_child_text(const struct pt_node *node, const char *key);

/* The stage that took longest; NULL when none has a duration. */
const struct pt_node *pt_html_longest_stage(const struct pt_node *stages);

/* A list as a table in a box of its own, which scrolls when the page is narrow. */
void pt_html_table(struct pt_str *out, const struct pt_node *list, const char *caption);
/* The values below a node as terms and descriptions; what else is there follows below. */
void pt_html_lines(struct pt_str *out, const struct pt_node *first);
/* A list of texts; what is beyond the first few is folded. */
void pt_html_plain(struct pt_str *out, const struct pt_node *list);
/* Any labelled list or group, without its heading. */
void pt_html_body(struct pt_str *out, const struct pt_node *node);

void pt_html_header(struct pt_str *out, const struct pt_node *root);
void pt_html_trace_quality(struct pt_str *out, const struct pt_node *root);
void pt_html_failures(struct pt_str *out, const struct pt_node *failures, const struct pt_node *stages);
void pt_html_findings(struct pt_str *out, const struct pt_node *findings);
void pt_html_time(struct pt_str *out, const struct pt_node *stages, const struct pt_node *account);
void pt_html_stages(struct pt_str *out, const struct pt_node *stages, double total_s);
/* `bars` may be NULL. */
void pt_html_gpu(struct pt_str *out, const struct pt_node *bars);
void pt_html_charts(struct pt_str *out, const struct pt_node *root);
void pt_html_flame(struct pt_str *out, const struct pt_flame *flame);
/* "ok" as a badge: a word in a box, its colour says the same again. */
void pt_html_badge(struct pt_str *out, const char *status);

#endif
