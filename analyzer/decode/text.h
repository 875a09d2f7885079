/* SPDX-License-Identifier: MIT
 *
 * text.h - one event as one line of text, and back: what dump prints, assemble reads and golden tests hold.
 *
 *     0.001234567 +0.000000512 12345/12346 io_read fd=3 result=4096 path="/x" requested_bytes=4096
 *
 * Start and duration in seconds with nine decimals, the thread's label, the event, its fields. Names replace ids; an id
 * without a name is `path=?`, an absent one (0) is left out, and so is a descriptor of -1. Stacks: stack=[0x1 0x2];
 * of Python: stack=["41:38:Set.load:/app/data.py"] (python.h).
 */
#ifndef PT_DECODE_TEXT_H
#define PT_DECODE_TEXT_H

#include "util/error.h"
#include "util/str.h"
#include "event.h"

/* How ids become names and back. */
struct pt_text_names {
    void *context;
    const char *(*string)(void *context, pt_u32 id); /* NULL = unknown */
    pt_u32 (*stack)(void *context, pt_u32 id, const pt_u64 **ret_frames);
};
struct pt_text_ids {
    void *context;
    pt_u32 (*string)(void *context, const char *bytes, size_t n);
    pt_u32 (*stack)(void *context, const pt_u64 *frames, pt_u32 n);
};
#define PT_TEXT_UNKNOWN_ID 0xffffffffu /* what `?` is read as: an id without a definition */

/* "..." with \" \\ and \xNN for what is not printable ASCII or well-formed UTF-8. */
void pt_text_quote(struct pt_str *out, const char *text);
/* Undo it: `at` stands on the opening quote; returns the place behind the closing one, NULL when it is not a quoted
 * text. */
const char *pt_text_unquote(const char *at, struct pt_str *out);

/* The line without its newline: "start +duration label name fields". */
void pt_text_event(struct pt_str *out, const struct pt_event *event, const char *label,
                   const struct pt_text_names *names);

/* The value of one field, as it stands behind "name=". */
void pt_text_field(struct pt_str *out, const struct pt_event *event, const struct pt_field_desc *field,
                   const struct pt_text_names *names);

/* Read a line that pt_text_event made: start_ns, duration_ns, desc, aux, tag and payload are set, *ret_label is the
 * thread's label (a copy in `label`). -1 with what is wrong. */
int pt_text_parse_event(const char *line, struct pt_event *ret_event, struct pt_str *label,
                        const struct pt_text_ids *ids, struct pt_error *err);

/* "1.234567890" as ns, exactly; returns the place behind it or NULL. */
const char *pt_text_seconds(const char *at, pt_i64 *ret_ns);

#endif
