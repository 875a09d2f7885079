/* SPDX-License-Identifier: MIT
 *
 * demangle_rust_punycode.c - Punycode as RFC 3492 has it, with '_' for '-'. Owns nothing; any thread. Never: makes an
 * identifier of more than MOST_CHARACTERS.
 */
#include "demangle_rust_punycode.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_CHARACTERS = 128 };

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

/* 36 = no digit */
static unsigned digit_of(char c)
{
    return c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') : c >= '0' && c <= '9' ? (unsigned)(c - '0') + 26 : 36;
}

/* A number whose digits weigh more from one to the next, as the bias says; it is added to `sum`. */
static bool add_number(const char **at, const char *end, unsigned bias, unsigned *sum)
{
    for (unsigned weight = 1, k = 36;; k += 36) {
        const unsigned digit = *at < end ? digit_of(*(*at)++) : 36;
        const unsigned limit = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        if (digit == 36 || __builtin_add_overflow(*sum, digit * weight, sum) || weight > 1u << 26)
            return false;
        if (digit < limit)
            return true;
        weight *= 36 - limit;
    }
}

static bool insert_all(struct punycode *text, const char *at, const char *end)
{
    unsigned code = 0x80, place = 0, bias = 72;
    while (at < end) {
        const unsigned before = place;
        if (!add_number(&at, end, bias, &place))
            return false;
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
