/* SPDX-License-Identifier: MIT
 *
 * sanitize.c - Owns: what counts as a dangerous character. Threads: any.
 */
#include "sanitize.h"

#include <string.h>

#include "utf8.h"

typedef void put_character(struct pt_str *out, const char *bytes, size_t n, uint32_t code);

static void put_terminal(struct pt_str *out, const char *bytes, size_t n, uint32_t code)
{
    (void)code;
    pt_str_bytes(out, bytes, n);
}

static void put_markdown(struct pt_str *out, const char *bytes, size_t n, uint32_t code)
{
    if (code < 0x80 && strchr("\\|`[]<>*_#~", (int)code) && code)
        pt_str_char(out, '\\');
    pt_str_bytes(out, bytes, n);
}

static void put_html(struct pt_str *out, const char *bytes, size_t n, uint32_t code)
{
    switch (code) {
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
        pt_str_bytes(out, bytes, n);
    }
}

static void walk(struct pt_str *out, const char *text, put_character *put)
{
    size_t left = strlen(text);
    while (left) {
        uint32_t code;
        const size_t n = pt_utf8_next(text, left, &code);
        if (!n)
            pt_str_add(out, PT_UTF8_REPLACEMENT);
        else if (!pt_utf8_is_control(code))
            put(out, text, n, code);
        else if (code < 0x100) {
            put(out, "\\", 1, '\\');
            pt_str_printf(out, "x%02x", code);
        } else {
            put(out, "\\", 1, '\\');
            pt_str_printf(out, "u{%04x}", code);
        }
        text += n ? n : 1;
        left -= n ? n : 1;
    }
}

void pt_sanitize_terminal(struct pt_str *out, const char *text)
{
    walk(out, text, put_terminal);
}

void pt_sanitize_markdown(struct pt_str *out, const char *text)
{
    walk(out, text, put_markdown);
}

void pt_sanitize_html(struct pt_str *out, const char *text)
{
    walk(out, text, put_html);
}

void pt_sanitize_csv(struct pt_str *out, const char *text)
{
    struct pt_str clean = {0};
    /* A leading = + - @ is a formula to a spreadsheet; a leading quote mark keeps it text. */
    if (*text && strchr("=+-@", *text))
        pt_str_char(&clean, '\'');
    walk(&clean, text, put_terminal);
    if (!strpbrk(pt_str_text(&clean), ",\" ;'")) {
        pt_str_add(out, pt_str_text(&clean));
    } else {
        pt_str_char(out, '"');
        for (const char *p = pt_str_text(&clean); *p; p++) {
            if (*p == '"')
                pt_str_char(out, '"');
            pt_str_char(out, *p);
        }
        pt_str_char(out, '"');
    }
    pt_str_fini(&clean);
}
