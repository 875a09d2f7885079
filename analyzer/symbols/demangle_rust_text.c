/* SPDX-License-Identifier: MIT
 *
 * demangle_rust_text.c - names that Rust mangled as if they were C++, and identifiers beyond ASCII.
 *
 * Owns nothing; any thread. Never: takes a C++ name for one of Rust's: only those end in "17h" and 16 hex digits. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "demangle_rust.h"

#define HASH_BYTES 17        /* "h0123456789abcdef" */
#define MOST_CHARACTERS 128u /* of an identifier beyond ASCII */

void pt_rust_character(struct pt_str *out, unsigned code)
{
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    if (code < 0x80) {
        pt_str_char(out, (char)code);
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    pt_str_char(out, (char)((0xff00u >> (more + 1) & 0xff) | code >> (6 * more)));
    for (int i = more - 1; i >= 0; i--)
        pt_str_char(out, (char)(0x80 | (code >> (6 * i) & 0x3f)));
}

/* ---- punycode: RFC 3492, with '_' for '-' ---- */

struct punycode {
    unsigned characters[MOST_CHARACTERS], n;
};

static bool insert(struct punycode *text, unsigned at, unsigned code)
{
    if (text->n == MOST_CHARACTERS)
        return false;
    memmove(text->characters + at + 1, text->characters + at, (text->n++ - at) * sizeof *text->characters);
    text->characters[at] = code;
    return true;
}

static unsigned adapt(unsigned delta, unsigned n, bool is_first)
{
    unsigned k = 0;
    delta /= is_first ? 700 : 2;
    for (delta += delta / n; delta > 35 * 26 / 2; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

static bool insert_all(struct punycode *text, const char *at, const char *end)
{
    unsigned code = 0x80, place = 0, bias = 72;
    while (at < end) {
        const unsigned before = place;
        for (unsigned weight = 1, k = 36;; k += 36) {
            const char c = at < end ? *at++ : 0;
            const unsigned digit = c >= 'a' && c <= 'z'   ? (unsigned)(c - 'a')
                                   : c >= '0' && c <= '9' ? (unsigned)(c - '0') + 26
                                                          : 36;
            const unsigned limit = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
            if (digit == 36 || __builtin_add_overflow(place, digit * weight, &place) || weight > 1u << 26)
                return false;
            if (digit < limit)
                break;
            weight *= 36 - limit;
        }
        bias = adapt(place - before, text->n + 1, !before);
        code += place / (text->n + 1);
        place %= text->n + 1;
        if (code > 0x10ffff || !insert(text, place++, code))
            return false;
    }
    return true;
}

void pt_rust_punycode(struct pt_str *out, const char *bytes, size_t n)
{
    struct punycode text = {.n = 0};
    size_t plain = n;
    while (plain > 0 && bytes[plain - 1] != '_')
        plain--;
    bool fits = true;
    for (size_t i = 0; i + 1 < plain && fits; i++)
        fits = insert(&text, text.n, (unsigned char)bytes[i]);
    if (!fits || !insert_all(&text, bytes + plain, bytes + n)) {
        pt_str_add(out, "punycode{");
        pt_str_bytes(out, bytes, n);
        pt_str_char(out, '}');
        return;
    }
    for (unsigned i = 0; i < text.n; i++)
        pt_rust_character(out, text.characters[i]);
}

/* ---- the older mangling ---- */

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
