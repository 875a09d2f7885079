/* SPDX-License-Identifier: MIT
 *
 * check_doc.h - the result of a check as a document for people, and as JSON.
 */
#ifndef PT_REGRESSION_CHECK_DOC_H
#define PT_REGRESSION_CHECK_DOC_H

#include "util/str.h"
#include "check.h"

/* What a table says of a figure. */
const char *pt_figure_state_word(enum pt_figure_state state);
/* Fills the document of a result: its verdict is one line, each stage has a table of figures. */
void pt_check_doc(struct pt_checked *checked);
/* Of a result with its document. Numbers as they are, each with its unit in the name; with a newline. */
void pt_check_json(const struct pt_checked *checked, struct pt_str *out);

#endif
