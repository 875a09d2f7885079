/* SPDX-License-Identifier: MIT
 *
 * utf8.c - Owns: nothing. Threads: any. Never: accepts overlong or cut characters.
 */
#include "utf8.h"

#include <string.h>

size_t pt_utf8_next(const char *bytes, size_t n, uint32_t *ret_code)
{
    static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)bytes;
    if (p[0] < 0x80) {
        *ret_code = p[0];
        return 1;
    }
    const size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || length > n)
        return 0;
    uint32_t code = p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < lowest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret_code = code;
    return length;
}

void pt_utf8_trim(char *text, size_t room)
{
    enum { MOST_BYTES = 4 };
    const size_t n = strlen(text);
    uint32_t code;
    if (n + 1 < room)
        return;
    for (size_t part = 1; part < MOST_BYTES && part <= n; part++) {
        const unsigned char first = (unsigned char)text[n - part];
        if ((first & 0xc0) == 0x80)
            continue; /* not the first of its character */
        if (first >= 0x80 && !pt_utf8_next(text + n - part, part, &code))
            text[n - part] = 0;
        return;
    }
}

bool pt_utf8_is_control(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f},  {0x2028, 0x202e},
                  {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code <= ranges[i].last && code >= ranges[i].first)
            return true;
    return (code & 0xfffe) == 0xfffe; /* noncharacters: XML does not allow them */
}

static size_t put_unit(char *to, uint32_t unit)
{
    static const char hex[] = "0123456789abcdef";
    to[0] = '\\';
    to[1] = 'u';
    for (int digit = 0; digit < 4; digit++)
        to[2 + digit] = hex[unit >> (12 - 4 * digit) & 15];
    return 6;
}

size_t pt_utf8_json_escape(char *to, uint32_t code)
{
    if (code < 0x10000)
        return put_unit(to, code);
    code -= 0x10000;
    return put_unit(to, 0xd800 + (code >> 10)) + put_unit(to + 6, 0xdc00 + (code & 0x3ff));
}

bool pt_utf8_valid(const char *text)
{
    const size_t n = strlen(text);
    uint32_t code;
    for (size_t at = 0, step; at < n; at += step) {
        step = pt_utf8_next(text + at, n - at, &code);
        if (!step)
            return false;
    }
    return true;
}
