/* SPDX-License-Identifier: MIT
 *
 * json_fields.h - the fields of an event as members of a JSON object.
 */
#ifndef PT_MODEL_TEXT_JSON_FIELDS_H
#define PT_MODEL_TEXT_JSON_FIELDS_H

#include "decode/event.h"
#include "util/json/json_writer.h"

/* Into the object that is open. A field whose name is one of `taken` (closed by NULL), or tid, is called field_<name>;
 * the tid of the thread itself is left out. */
void pt_json_fields(struct pt_json *json, const struct pt_event *event, const char *const *taken);

#endif
