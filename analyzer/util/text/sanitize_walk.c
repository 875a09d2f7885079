/* SPDX-License-Identifier: MIT
 *
 * sanitize_walk.c - Owns: what counts as a dangerous character. Threads: any. Never: changes the text that it walks.
 */
#include "sanitize_walk.h"

#include "utf8.h"

void pt_put_html(struct pt_str *out, const struct pt_text_place *place)
{
    switch (place->code) {
    case '&':
        pt_str_add(out, "&amp;");
        return;
    case '<':
        pt_str_add(out, "&lt;");
        return;
    case '>':
        pt_str_add(out, "&gt;");
        return;
    case '"':
        pt_str_add(out, "&quot;");
        return;
    case '\'':
        pt_str_add(out, "&#39;");
        return;
    default:
        pt_str_bytes(out, place->bytes, place->n);
    }
}

void pt_sanitize_walk(struct pt_str *out, const char *text, size_t from, size_t bytes, pt_put_character *put)
{
    for (size_t at = from, n; at < from + bytes; at += n ? n : 1) {
        uint32_t code;
        n = pt_utf8_next(text + at, from + bytes - at, &code);
        if (!n) {
            pt_str_add(out, PT_UTF8_REPLACEMENT);
        } else if (!pt_utf8_is_control(code)) {
            put(out, &(struct pt_text_place){text, at, text + at, n, code, false});
        } else {
            put(out, &(struct pt_text_place){text, at, "\\", 1, '\\', true});
            pt_str_printf(out, code < 0x100 ? "x%02x" : "u{%04x}", code);
        }
    }
}
