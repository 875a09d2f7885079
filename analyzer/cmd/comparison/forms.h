/* SPDX-License-Identifier: MIT
 *
 * forms.h - the forms in which commands show documents that consist of panels, in the order of their option --format.
 */
#ifndef PT_CMD_COMPARISON_FORMS_H
#define PT_CMD_COMPARISON_FORMS_H

#include "report/doc/doc.h"
#include "util/str.h"

enum pt_form { PT_FORM_TEXT, PT_FORM_JSON, PT_FORM_MD, PT_FORM_HTML, PT_FORM__COUNT };

/* The verdict in one line, which scripts read, too; then notes and panels. `output`: the file that it is for; NULL =
 * stdout. */
void pt_form_text(const struct pt_doc *doc, const char *output, struct pt_str *out);
/* The forms for programs; not PT_FORM_TEXT. */
void pt_form_panels(enum pt_form form, const struct pt_doc *doc, struct pt_str *out);

#endif
