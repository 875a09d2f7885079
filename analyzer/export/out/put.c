/* SPDX-License-Identifier: MIT
 *
 * put.c - numbers and strings of JSON. Owns nothing; any thread. Never: allocates, follows the locale. */
#include "put.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/text/utf8.h"

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                  "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

static pt_u32 digit_count(pt_u64 value)
{
    static const pt_u64 limits[] = {10ull,      100ull,      1000ull,      10000ull,      100000ull,
                                    1000000ull, 10000000ull, 100000000ull, 1000000000ull, 10000000000ull};
    for (pt_u32 i = 0; i < 10; i++)
        if (value < limits[i])
            return i + 1;
    return 10 + digit_count(value / 10000000000ull);
}

char *pt_put_u64(char *at, pt_u64 value)
{
    char *const end = at + digit_count(value);
    char *to = end;
    while (value >= 100) {
        to -= 2;
        memcpy(to, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
        memcpy(at, digit_pairs + value * 2, 2);
    else
        *at = (char)('0' + value);
    return end;
}

char *pt_put_i64(char *at, pt_i64 value)
{
    if (value >= 0)
        return pt_put_u64(at, (pt_u64)value);
    *at++ = '-';
    return pt_put_u64(at, -(pt_u64)value);
}

char *pt_put_hex(char *at, pt_u64 value)
{
    return at + snprintf(at, 24, "\"0x%llx\"", (unsigned long long)value);
}

char *pt_put_us(char *at, pt_i64 ns)
{
    pt_u64 magnitude = (pt_u64)ns;
    if (ns < 0) {
        *at++ = '-';
        magnitude = -magnitude;
    }
    at = pt_put_u64(at, magnitude / 1000);
    const pt_u32 rest = (pt_u32)(magnitude % 1000);
    *at++ = '.';
    *at++ = (char)('0' + rest / 100);
    memcpy(at, digit_pairs + rest % 100 * 2, 2);
    return at + 2;
}

char *pt_put_f64(char *at, pt_f64 value)
{
    for (int digits = 15;; digits++) {
        const int bytes = snprintf(at, 32, "%.*g", digits, value);
        if (digits == 17 || strtod(at, NULL) == value)
            return at + bytes;
    }
}

static char *put_escaped(char *at, unsigned char c)
{
    const char letter = c == '"' || c == '\\' ? (char)c : c == '\n' ? 'n' : c == '\t' ? 't' : 0;
    if (!letter)
        return at + pt_utf8_json_escape(at, c);
    *at++ = '\\';
    *at++ = letter;
    return at;
}

char *pt_put_string(char *at, const char *text)
{
    const char *const limit = at + PT_PUT_STRING_BYTES - 16;
    const unsigned char *from = (const unsigned char *)text;
    *at++ = '"';
    while (*from && at < limit) {
        const unsigned char c = *from;
        if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
            *at++ = (char)c;
            from++;
            continue;
        }
        if (c < 0x80) {
            at = put_escaped(at, c);
            from++;
            continue;
        }
        uint32_t code;
        const size_t bytes = pt_utf8_next((const char *)from, strnlen((const char *)from, 4), &code);
        if (bytes && pt_utf8_is_control(code)) {
            at += pt_utf8_json_escape(at, code);
        } else if (bytes) {
            memcpy(at, from, bytes);
            at += bytes;
        } else {
            at = pt_put(at, PT_UTF8_REPLACEMENT);
        }
        from += bytes ? bytes : 1;
    }
    if (*from)
        at = pt_put(at, "...");
    *at++ = '"';
    return at;
}
