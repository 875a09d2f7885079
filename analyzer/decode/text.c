/* SPDX-License-Identifier: MIT
 *
 * text.c - Owns: the text form of an event. Threads: any. Never: loses information: what it prints can be read back.
 */
#include "text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/fmt.h"
#include "util/text/utf8.h"
#include "field_value.h"

/* ---- names ---- */

/* Printed unchanged: visible, and without effect on the rest of the line. */
static bool is_plain(uint32_t code)
{
    return !pt_utf8_is_control(code) && code < 0xe0000;
}

void pt_text_quote(struct pt_str *out, const char *text)
{
    size_t left = strlen(text);
    pt_str_char(out, '"');
    while (left) {
        uint32_t code;
        const size_t length = pt_utf8_next(text, left, &code);
        const size_t n = length && is_plain(code) ? length : 0;
        if (n && (code == '"' || code == '\\'))
            pt_str_char(out, '\\');
        if (n)
            pt_str_bytes(out, text, n);
        else
            pt_str_printf(out, "\\x%02x", (unsigned char)*text);
        text += n ? n : 1;
        left -= n ? n : 1;
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
    for (pt_u32 i = 0; i < n; i++) {
        pt_str_char(out, i ? ' ' : '[');
        if (pt_frame_is_python(frames[i]))
            put_string(out, pt_python_frame_name(frames[i]), names);
        else
            pt_str_printf(out, "0x%" PRIx64, frames[i]);
    }
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

/* "O_RDWR|O_CREAT|0x8": bits without a name as one number. */
static void put_flags(struct pt_str *out, enum pt_unit unit, pt_u64 flags)
{
    const struct pt_constants names = pt_unit_constants(unit);
    pt_u64 left = flags;
    const size_t start = out->n;
    for (pt_u32 i = 0; i < names.n; i++) {
        if ((left & names.items[i].mask) != names.items[i].value)
            continue;
        pt_str_printf(out, "%s%s", out->n > start ? "|" : "", names.items[i].name);
        left &= ~names.items[i].value;
    }
    if (left || out->n == start)
        pt_str_printf(out, "%s0x%" PRIx64, out->n > start ? "|" : "", left);
}

void pt_text_field(struct pt_str *out, const struct pt_event *event, const struct pt_field_desc *field,
                   const struct pt_text_names *names)
{
    const struct pt_field_value value = pt_field_value(event, field);
    const char *name = pt_field_name(field, &value);
    if (name) {
        pt_str_add(out, name);
        return;
    }
    switch (value.form) {
    case PT_FORM_STRING:
        put_string(out, (pt_u32)value.number, names);
        break;
    case PT_FORM_STACK:
        put_stack(out, (pt_u32)value.number, names);
        break;
    case PT_FORM_REAL:
        put_double(out, value.bits);
        break;
    case PT_FORM_HEX:
        if (field->unit_class == PT_CLASS_FLAGS)
            put_flags(out, field->unit, value.bits);
        else
            pt_str_printf(out, "0x%" PRIx64, value.bits);
        break;
    case PT_FORM_SIGNED:
    case PT_FORM_UNSIGNED:
    case PT_FORM_ERROR:
        if (field->is_signed)
            pt_str_printf(out, "%" PRId64, value.number);
        else
            pt_str_printf(out, "%" PRIu64, value.bits);
    }
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
        const struct pt_field_value value = pt_field_value(event, field);
        if (value.is_absent && value.number == pt_field_default(field))
            continue;
        pt_str_printf(out, " %s=", field->name);
        pt_text_field(out, event, field, names);
    }
}
