/* SPDX-License-Identifier: MIT
 *
 * text.c - Owns: the text form of an event. Threads: any. Never: loses a bit of what it prints.
 */
#include "text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/fmt.h"
#include "util/text/utf8.h"
#include "text_tables.h"

pt_i64 pt_field_value(const struct pt_event *event, const struct pt_field_desc *field)
{
    if (field->place == PT_FIELD_AUX)
        return event->aux;
    if (field->place == PT_FIELD_TAG)
        return event->tag;
    pt_u64 value = 0;
    memcpy(&value, event->payload + field->offset, field->bytes);
    const pt_u32 spare = 64 - 8 * field->bytes;
    return field->type[0] == 'i' ? (pt_i64)(value << spare) >> spare : (pt_i64)value;
}

void pt_field_set(struct pt_event *event, const struct pt_field_desc *field, pt_u64 value)
{
    if (field->place == PT_FIELD_AUX)
        event->aux = (pt_u32)value;
    else if (field->place == PT_FIELD_TAG)
        event->tag = (pt_i32)((pt_u32)value << 8) >> 8;
    else
        memcpy(event->payload + field->offset, &value, field->bytes);
}

/* ---- names ---- */

void pt_text_quote(struct pt_str *out, const char *text)
{
    size_t left = strlen(text);
    pt_str_char(out, '"');
    while (left) {
        uint32_t code;
        size_t n = pt_utf8_next(text, left, &code);
        const bool plain = n && code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0) &&
                           !(code >= 0x2000 && code < 0x2070) && code != 0x61c && code != 0xfeff && code < 0xe0000;
        if (plain && (code == '"' || code == '\\'))
            pt_str_char(out, '\\');
        n = plain ? n : 1;
        if (plain)
            pt_str_bytes(out, text, n);
        else
            pt_str_printf(out, "\\x%02x", (unsigned char)*text);
        text += n;
        left -= n;
    }
    pt_str_char(out, '"');
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

const char *pt_text_unquote(const char *at, struct pt_str *out)
{
    pt_str_bytes(out, "", 0);
    if (*at++ != '"')
        return NULL;
    for (; *at && *at != '"'; at++) {
        if (*at != '\\') {
            pt_str_char(out, *at);
            continue;
        }
        at++;
        if (*at == '"' || *at == '\\') {
            pt_str_char(out, *at);
            continue;
        }
        if (*at != 'x' || hex_digit(at[1]) < 0 || hex_digit(at[2]) < 0)
            return NULL;
        pt_str_char(out, (char)(hex_digit(at[1]) << 4 | hex_digit(at[2])));
        at += 2;
    }
    return *at == '"' ? at + 1 : NULL;
}

/* ---- flags ---- */

static void put_open_flags(struct pt_str *out, pt_u32 flags)
{
    pt_u32 left = flags;
    if ((flags & O_ACCMODE) == O_RDONLY)
        pt_str_add(out, "O_RDONLY");
    const size_t n = out->n;
    for (size_t i = 0; i < sizeof open_flags / sizeof open_flags[0]; i++) {
        if ((left & open_flags[i].bits) != open_flags[i].bits)
            continue;
        pt_str_printf(out, "%s%s", (flags & O_ACCMODE) == O_RDONLY || out->n > n ? "|" : "", open_flags[i].name);
        left &= ~open_flags[i].bits;
    }
    if (left)
        pt_str_printf(out, "%s0x%" PRIx32, (flags & O_ACCMODE) == O_RDONLY || out->n > n ? "|" : "", left);
}

/* ---- printing ---- */

static void put_string(struct pt_str *out, pt_u32 id, const struct pt_text_names *names)
{
    const char *text = names->string(names->context, id);
    if (text)
        pt_text_quote(out, text);
    else
        pt_str_char(out, '?');
}

static void put_stack(struct pt_str *out, pt_u32 id, const struct pt_text_names *names)
{
    const pt_u64 *frames;
    const pt_u32 n = names->stack(names->context, id, &frames);
    if (!n) {
        pt_str_char(out, '?');
        return;
    }
    for (pt_u32 i = 0; i < n; i++)
        pt_str_printf(out, "%c0x%" PRIx64, i ? ' ' : '[', frames[i]);
    pt_str_char(out, ']');
}

static void put_double(struct pt_str *out, pt_u64 bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (!memcmp(&back, &bits, sizeof back)) {
            pt_str_add(out, text);
            return;
        }
    }
    pt_str_printf(out, "0x%016" PRIx64, bits); /* NaN with a payload */
}

void pt_text_field(struct pt_str *out, const struct pt_event *event, const struct pt_field_desc *field,
                   const struct pt_text_names *names)
{
    const pt_i64 value = pt_field_value(event, field);
    const struct pt_event_desc *function;
    const pt_u64 mask = field->bytes < 8 ? (1ull << (8 * field->bytes)) - 1 : ~0ull;
    switch (field->unit) {
    case PT_UNIT_STRING:
        put_string(out, (pt_u32)value, names);
        return;
    case PT_UNIT_STACK:
        put_stack(out, (pt_u32)value, names);
        return;
    case PT_UNIT_ADDR:
    case PT_UNIT_HEX:
        pt_str_printf(out, "0x%" PRIx64, (pt_u64)value & mask);
        return;
    case PT_UNIT_OPEN_FLAGS:
        put_open_flags(out, (pt_u32)value);
        return;
    case PT_UNIT_NUMBER:
        put_double(out, (pt_u64)value);
        return;
    case PT_UNIT_WHENCE:
        if (value >= 0 && value < 5) {
            pt_str_add(out, whence_names[value]);
            return;
        }
        break;
    case PT_UNIT_HEAP_FUNCTION:
        function = value > 0 && value < 256 ? pt_event_desc_by_id((pt_u8)value) : NULL;
        if (function) {
            pt_str_add(out, function->name);
            return;
        }
        break;
    case PT_UNIT_PAD:
    case PT_UNIT_BYTES:
    case PT_UNIT_OFFSET:
    case PT_UNIT_COUNT:
    case PT_UNIT_FD:
    case PT_UNIT_RESULT:
    case PT_UNIT_RESULT_FD:
    case PT_UNIT_RESULT_PID:
    case PT_UNIT_RESULT_BYTES:
        break;
    }
    if (field->type[0] == 'u')
        pt_str_printf(out, "%" PRIu64, (pt_u64)value);
    else
        pt_str_printf(out, "%" PRId64, value);
}

/* Fields that say nothing: no name, no stack, no descriptor. */
static bool is_absent(const struct pt_event *event, const struct pt_field_desc *field)
{
    const pt_i64 value = pt_field_value(event, field);
    if (field->unit == PT_UNIT_STRING || field->unit == PT_UNIT_STACK)
        return !value;
    return field->unit == PT_UNIT_FD && field->place == PT_FIELD_TAG && value == -1;
}

void pt_text_event(struct pt_str *out, const struct pt_event *event, const char *label,
                   const struct pt_text_names *names)
{
    pt_str_add(out, pt_fmt_seconds(event->start_ns).text);
    if (event->desc->role == PT_ROLE_SPAN)
        pt_str_printf(out, " +%s", pt_fmt_seconds(event->duration_ns).text);
    pt_str_printf(out, " %s %s", label, event->desc->name);
    for (pt_u32 i = 0; i < event->desc->n_fields; i++) {
        const struct pt_field_desc *field = &event->desc->fields[i];
        if (is_absent(event, field))
            continue;
        pt_str_printf(out, " %s=", field->name);
        pt_text_field(out, event, field, names);
    }
}
