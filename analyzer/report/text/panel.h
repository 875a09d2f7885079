/* SPDX-License-Identifier: MIT
 *
 * panel.h - panels of a document on a terminal.
 */
#ifndef PT_REPORT_TEXT_PANEL_H
#define PT_REPORT_TEXT_PANEL_H

#include "put.h"

/* With its heading, which names the stage where there is one; nothing when it has nothing to say, or only draws. */
void pt_text_panel(const struct pt_text_out *t, const struct pt_panel *panel, const char *stage);
void pt_text_panels(const struct pt_text_out *t, const struct pt_panels *panels, const char *stage);
/* Some texts, one per line; of very many only the first. */
void pt_text_texts(const struct pt_text_out *t, const char *const *texts, pt_u32 n);

/* "note: ..." for each note of a document. */
void pt_text_notes(const struct pt_text_out *t, const struct pt_doc *doc);

#endif
