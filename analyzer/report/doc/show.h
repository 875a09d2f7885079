/* SPDX-License-Identifier: MIT
 *
 * show.h - a value as people read it.
 */
#ifndef PT_REPORT_DOC_SHOW_H
#define PT_REPORT_DOC_SHOW_H

#include "util/str.h"
#include "util/text/fmt.h"
#include "doc.h"

enum pt_show_style {
    PT_STYLE_TERMINAL, /* 302 s, 8.20 GiB, 12.5 % */
    PT_STYLE_COMPACT,  /* 302.1s, 8.2GB, 12%: as the Markdown report has it */
};

/* Appends the value. Texts are appended raw: the renderer sanitises for its medium. Unknown is "-" or "n/a". */
void pt_show_value(struct pt_str *out, struct pt_cell cell, enum pt_show_style style);
/* Numbers are aligned to the right. */
static inline bool pt_show_is_number(enum pt_show show)
{
    return show != PT_SHOW_TEXT && show != PT_SHOW_CODE && show != PT_SHOW_BOOL;
}

#endif
