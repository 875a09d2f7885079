/* SPDX-License-Identifier: MIT
 *
 * panel.h - panels of a document as JSON, for commands whose tables are the same for people and machines.
 */
#ifndef PT_REPORT_JSON_PANEL_H
#define PT_REPORT_JSON_PANEL_H

#include "report/doc/doc.h"
#include "util/json/json_writer.h"
#include "util/str.h"

/* Lines are members of an object, a table is an array of objects, texts are an array: each under the panel's key. */
void pt_json_panel(struct pt_json *json, const struct pt_panel *panel);
/* {"schema_version": "1.0", "stages": [{"stage": NAME, panels}]}, with a newline. Of a document with a title the lines
 * of its head, "verdict" and "notes" come before the stages. */
void pt_json_stage_panels(const struct pt_doc *doc, struct pt_str *out);

#endif
