/* SPDX-License-Identifier: MIT
 *
 * table.h - a table on a page, in a box of its own that scrolls where the page is narrow.
 */
#ifndef PT_REPORT_HTML_TABLE_H
#define PT_REPORT_HTML_TABLE_H

#include "report/doc/doc.h"
#include "util/str.h"

enum { PT_HTML_MOST_ROWS = 200 };
/* On paper a long table has as many; page.css knows it, too. */
enum { PT_HTML_PAPER_ROWS = 5 };

/* Below it stands what its dashes mean, and which columns are empty. `is_long`: on paper only its first rows. */
void pt_html_table(struct pt_str *out, const struct pt_panel *panel, bool is_long);

#endif
