/* SPDX-License-Identifier: MIT
 *
 * chrome/event.c - how an event looks as a line of JSON.
 *
 * Owns nothing. One thread. Never: writes a number that is not finite or a string that is not UTF-8; one of either
 * makes chrome://tracing reject the whole file. */
#include "event.h"

#include <stdio.h>
#include <string.h>

#include "model/session.h"

char *pt_chrome_begin(struct pt_chrome_out *out, char phase, pt_u32 pid, pt_u32 tid, pt_i64 at_ns)
{
    char *at = pt_sink_room(out->sink);
    if (out->has_lines)
        *at++ = ',';
    out->has_lines = true;
    at = pt_put(at, "\n{\"ph\":\"");
    *at++ = phase;
    at = pt_put(at, "\",\"pid\":");
    at = pt_put_u64(at, pid);
    at = pt_put(at, ",\"tid\":");
    at = pt_put_u64(at, tid);
    at = pt_put(at, ",\"ts\":");
    return pt_put_us(at, at_ns);
}

void pt_chrome_end(struct pt_chrome_out *out, char *at)
{
    *at++ = '}';
    pt_sink_wrote(out->sink, at);
}

static char *metadata_begin(struct pt_chrome_out *out, pt_u32 pid, pt_u32 tid, const char *what, const char *key)
{
    char *at = pt_chrome_begin(out, 'M', pid, tid, 0);
    at = pt_put(at, ",\"name\":\"");
    at = pt_put(at, what);
    at = pt_put(at, "\",\"args\":{\"");
    at = pt_put(at, key);
    return pt_put(at, "\":");
}

void pt_chrome_name(struct pt_chrome_out *out, pt_u32 pid, pt_u32 tid, const char *what, const char *name)
{
    char *at = metadata_begin(out, pid, tid, what, strcmp(what, "process_labels") ? "name" : "labels");
    at = pt_put_string(at, name);
    *at++ = '}';
    pt_chrome_end(out, at);
}

void pt_chrome_sort_index(struct pt_chrome_out *out, pt_u32 pid, pt_u32 tid, const char *what, pt_u32 index)
{
    char *at = pt_put_u64(metadata_begin(out, pid, tid, what, "sort_index"), index);
    *at++ = '}';
    pt_chrome_end(out, at);
}

static void kind_prepare(struct pt_chrome_kind *kind, const struct pt_event_desc *desc)
{
    const char *category = pt_category_name(desc->category);
    kind->category.bytes =
        (pt_u8)snprintf(kind->category.text, sizeof kind->category.text, ",\"cat\":\"%.16s\",\"name\":", category);
    kind->head_bytes = (pt_u32)snprintf(kind->head, sizeof kind->head, ",\"cat\":\"%s\",\"name\":\"%.60s\",\"args\":{",
                                        category, pt_event_short_name(desc));
    for (pt_u32 i = 0; i < desc->n_fields; i++)
        kind->keys[i].bytes =
            (pt_u8)snprintf(kind->keys[i].text, sizeof kind->keys[i].text, "\"%.58s\":", desc->fields[i].name);
    kind->is_ready = true;
}

/* One field as "name":value; nothing where it says nothing. */
static char *put_field(char *at, const struct pt_event *event, const struct pt_field_desc *field,
                       const struct pt_put_text *key, bool with_strings)
{
    struct pt_field_value value;
    const char *text;
    if (!pt_viewer_value(event, field, &value))
        return at;
    switch (value.form) {
    case PT_FORM_STRING:
        text = with_strings ? pt_process_string(event->process, (pt_u32)value.number) : NULL;
        return text && *text ? pt_put_string(pt_put_block(at, key), text) : at;
    case PT_FORM_ERROR:
        return pt_put_string(pt_put(at, "\"error\":"), value.error);
    case PT_FORM_HEX:
        return pt_put_hex(pt_put_block(at, key), value.bits);
    case PT_FORM_SIGNED:
        return pt_put_i64(pt_put_block(at, key), value.number);
    case PT_FORM_UNSIGNED:
        return pt_put_u64(pt_put_block(at, key), value.bits);
    case PT_FORM_REAL:
    case PT_FORM_STACK:
        break; /* viewers leave them out */
    }
    return at;
}

char *pt_chrome_put_event(struct pt_chrome_out *out, char *at, const struct pt_event *event, const char *name,
                          bool with_strings)
{
    const struct pt_event_desc *desc = event->desc;
    struct pt_chrome_kind *kind = &out->kinds[desc->id];
    if (!kind->is_ready)
        kind_prepare(kind, desc);
    if (name) {
        at = pt_put(pt_put_string(pt_put_block(at, &kind->category), name), ",\"args\":{");
    } else {
        memcpy(at, kind->head, sizeof kind->head);
        at += kind->head_bytes;
    }
    char *const start = at;
    for (pt_u32 i = 0; i < desc->n_fields; i++) {
        /* One byte further than needed, for the comma that only a second field has. */
        char *const from = at > start ? at + 1 : at;
        char *const after = put_field(from, event, &desc->fields[i], &kind->keys[i], with_strings);
        if (after == from)
            continue;
        if (from > at)
            *at = ',';
        at = after;
    }
    return at;
}
