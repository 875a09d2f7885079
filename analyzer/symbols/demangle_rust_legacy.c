/* SPDX-License-Identifier: MIT
 *
 * demangle_rust_legacy.c - names that Rust mangled as if they were C++. Owns nothing; any thread. Never: takes a C++
 * name for one of Rust's: only those end in "17h" and 16 hex digits.
 */
#include "demangle_rust_legacy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/str.h"
#include "demangle_rust_punycode.h"

#define HASH_BYTES 17 /* "h0123456789abcdef" */

static bool is_hash(const char *text)
{
    return *text == 'h' && strspn(text + 1, "0123456789abcdef") >= HASH_BYTES - 1;
}

/* "$LT$" is "<", "$u7e$" a character by its number. Bytes taken; 0 = it is none. */
static size_t unescape(struct pt_str *out, const char *at, const char *end)
{
    static const struct {
        char name[5], character;
    } escapes[] = {{"$C$", ','},  {"$SP$", '@'}, {"$BP$", '*'}, {"$RF$", '&'},
                   {"$LT$", '<'}, {"$GT$", '>'}, {"$LP$", '('}, {"$RP$", ')'}};
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        const size_t n = strlen(escapes[i].name);
        if ((size_t)(end - at) >= n && !memcmp(at, escapes[i].name, n)) {
            pt_str_char(out, escapes[i].character);
            return n;
        }
    }
    char *after = NULL;
    if (end - at < 4 || at[1] != 'u' || !strchr("0123456789abcdef", at[2]))
        return 0;
    const unsigned long code = strtoul(at + 2, &after, 16);
    if (after >= end || *after != '$' || code < 0x20 || code > 0x10ffff || code == 0x7f)
        return 0;
    pt_rust_character(out, (unsigned)code);
    return (size_t)(after + 1 - at);
}

static void put_segment(struct pt_str *out, const char *at, const char *end)
{
    at += end - at > 1 && at[0] == '_' && at[1] == '$'; /* no identifier begins with a dollar */
    while (at < end) {
        const size_t escaped = *at == '$' ? unescape(out, at, end) : 0;
        const bool is_path = end - at > 1 && at[0] == '.' && at[1] == '.';
        if (is_path)
            pt_str_add(out, "::");
        else if (!escaped)
            pt_str_char(out, *at);
        at += escaped ? escaped : is_path ? 2 : 1;
    }
}

char *pt_demangle_rust_legacy(const char *name)
{
    struct pt_str out = {0};
    const char *at = name + 3;
    if (strncmp(name, "_ZN", 3) != 0)
        return NULL;
    while (*at >= '1' && *at <= '9') {
        char *segment;
        const unsigned long n = strtoul(at, &segment, 10);
        if (n > strlen(segment))
            break;
        at = segment + n;
        if (n == HASH_BYTES && is_hash(segment) && *at == 'E' && (!at[1] || at[1] == '.') && out.n)
            return out.text;
        if (out.n)
            pt_str_add(&out, "::");
        put_segment(&out, segment, at);
    }
    pt_str_fini(&out);
    return NULL;
}
