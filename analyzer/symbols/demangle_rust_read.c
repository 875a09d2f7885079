/* SPDX-License-Identifier: MIT
 *
 * demangle_rust_read.c - characters, numbers, identifiers and back references of Rust's mangling.
 *
 * Owns nothing; any thread. Never: writes more than PT_RUST_TEXT_BYTES or nests deeper than MOST_DEPTH, whatever a name
 * says: back references make a few hundred bytes grow without end. */
#include "demangle_rust_read.h"

#include "demangle_rust_punycode.h"

#define MOST_DEPTH 200u
#define MOST_STEPS 100000u

void pt_rust_fail(struct pt_rust *r)
{
    r->has_failed = true;
}

void pt_rust_put(struct pt_rust *r, const char *text)
{
    if (!r->is_silent && !r->has_failed)
        pt_str_add(&r->out, text);
    if (r->out.n > PT_RUST_TEXT_BYTES)
        pt_rust_fail(r);
}

static char peek(const struct pt_rust *r)
{
    return !r->has_failed && r->at < r->n ? r->text[r->at] : 0;
}

bool pt_rust_eat(struct pt_rust *r, char c)
{
    const bool is_here = peek(r) == c;
    r->at += is_here;
    return is_here;
}

char pt_rust_next(struct pt_rust *r)
{
    const char c = peek(r);
    if (c)
        r->at++;
    else
        pt_rust_fail(r);
    return c;
}

bool pt_rust_enter(struct pt_rust *r)
{
    if (++r->depth > MOST_DEPTH || ++r->steps > MOST_STEPS)
        pt_rust_fail(r);
    return !r->has_failed;
}

/* ---- numbers and identifiers ---- */

uint64_t pt_rust_number_62(struct pt_rust *r)
{
    uint64_t value = 0;
    if (pt_rust_eat(r, '_'))
        return 0;
    while (!pt_rust_eat(r, '_') && !r->has_failed) {
        const char c = pt_rust_next(r);
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
                               : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 36
                                                      : 62;
        if (digit == 62 || __builtin_mul_overflow(value, 62, &value) || __builtin_add_overflow(value, digit, &value))
            pt_rust_fail(r);
    }
    if (value == UINT64_MAX)
        pt_rust_fail(r);
    return value + 1;
}

uint64_t pt_rust_optional_62(struct pt_rust *r, char tag)
{
    const uint64_t value = pt_rust_eat(r, tag) ? pt_rust_number_62(r) : UINT64_MAX;
    return value + 1;
}

struct pt_rust_identifier pt_rust_identifier(struct pt_rust *r)
{
    struct pt_rust_identifier found = {.is_punycode = pt_rust_eat(r, 'u')};
    if (peek(r) < '0' || peek(r) > '9')
        pt_rust_fail(r);
    if (!pt_rust_eat(r, '0'))
        while (peek(r) >= '0' && peek(r) <= '9' && found.n < r->n)
            found.n = found.n * 10 + (size_t)(pt_rust_next(r) - '0');
    pt_rust_eat(r, '_');
    if (r->has_failed || found.n > r->n - r->at) {
        pt_rust_fail(r);
        return (struct pt_rust_identifier){0};
    }
    found.bytes = r->text + r->at;
    r->at += found.n;
    return found;
}

void pt_rust_put_identifier(struct pt_rust *r, const struct pt_rust_identifier *name)
{
    if (r->has_failed || r->is_silent || !name->n)
        return;
    if (name->is_punycode)
        pt_rust_punycode(&r->out, name->bytes, name->n);
    else
        pt_str_bytes(&r->out, name->bytes, name->n);
    pt_rust_put(r, "");
}

void pt_rust_back_reference(struct pt_rust *r, void (*read)(struct pt_rust *r, bool is_value), bool is_value)
{
    const size_t tag_at = r->at - 1;
    const uint64_t target = pt_rust_number_62(r);
    if (r->has_failed || target >= tag_at) {
        pt_rust_fail(r);
        return;
    }
    const size_t after = r->at;
    r->at = (size_t)target;
    if (!r->is_silent)
        read(r, is_value);
    r->at = after;
}

/* ---- lists ---- */

unsigned pt_rust_list(struct pt_rust *r, void (*item)(struct pt_rust *r), const char *separator)
{
    unsigned n = 0;
    while (!pt_rust_eat(r, 'E') && !r->has_failed) {
        if (n++)
            pt_rust_put(r, separator);
        item(r);
    }
    return n;
}
