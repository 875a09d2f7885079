/* SPDX-License-Identifier: MIT
 *
 * demangle_rust.c - a name of Rust: which of the two manglings it is, and the grammar of the newer one, whose paths,
 * types and constants contain each other.
 *
 * Owns nothing; any thread. Never: shows hashes, nor the crate that a generic function was compiled for.
 */
#include "demangle_rust.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "demangle_rust_legacy.h"
#include "demangle_rust_read.h"

/* A value's generic arguments are written with "::" before them. */
static void read_path(struct pt_rust *r, bool is_value);
static void read_type(struct pt_rust *r);
static void read_constant(struct pt_rust *r);

/* ---- lifetimes ---- */

static void lifetime(struct pt_rust *r, uint64_t index)
{
    if (index > r->lifetimes) {
        pt_rust_fail(r);
        return;
    }
    const uint64_t depth = r->lifetimes - index;
    char text[32] = "'_";
    if (index && depth < 26)
        text[1] = (char)('a' + depth);
    pt_rust_put(r, text);
    if (index && depth >= 26 && !r->is_silent)
        pt_str_printf(&r->out, "%llu", (unsigned long long)depth);
}

/* "for<'a, 'b> "; how many it names. */
static uint64_t binder(struct pt_rust *r)
{
    const uint64_t n = pt_rust_optional_62(r, 'G');
    if (n > PT_RUST_TEXT_BYTES)
        pt_rust_fail(r);
    for (uint64_t i = 0; i < n && !r->has_failed; i++) {
        pt_rust_put(r, i ? ", " : "for<");
        r->lifetimes++;
        lifetime(r, 1);
    }
    if (n)
        pt_rust_put(r, "> ");
    return n;
}

static void generic_argument(struct pt_rust *r)
{
    if (pt_rust_eat(r, 'L'))
        lifetime(r, pt_rust_number_62(r));
    else if (pt_rust_eat(r, 'K'))
        read_constant(r);
    else
        read_type(r);
}

/* ---- paths ---- */

static void nested_path(struct pt_rust *r, bool is_value)
{
    const char space = pt_rust_next(r);
    read_path(r, is_value);
    const uint64_t disambiguator = pt_rust_optional_62(r, 's');
    const struct pt_rust_identifier name = pt_rust_identifier(r);
    if (space >= 'A' && space <= 'Z') {
        const char other[2] = {space, 0};
        pt_rust_put(r, "::{");
        pt_rust_put(r, space == 'C' ? "closure" : space == 'S' ? "shim" : other);
        pt_rust_put(r, name.n ? ":" : "");
        pt_rust_put_identifier(r, &name);
        if (!r->is_silent && !r->has_failed)
            pt_str_printf(&r->out, "#%llu}", (unsigned long long)disambiguator);
    } else if (space < 'a' || space > 'z') {
        pt_rust_fail(r);
    } else if (name.n) {
        pt_rust_put(r, "::");
        pt_rust_put_identifier(r, &name);
    }
}

/* <T>, <T as Trait>; the place of the impl is not shown. */
static void implementation(struct pt_rust *r, char tag)
{
    if (tag != 'Y') {
        const bool was_silent = r->is_silent;
        r->is_silent = true;
        pt_rust_optional_62(r, 's');
        read_path(r, false);
        r->is_silent = was_silent;
    }
    pt_rust_put(r, "<");
    read_type(r);
    if (tag != 'M') {
        pt_rust_put(r, " as ");
        read_path(r, false);
    }
    pt_rust_put(r, ">");
}

static void read_path(struct pt_rust *r, bool is_value)
{
    if (!pt_rust_enter(r))
        return;
    const char tag = pt_rust_next(r);
    switch (tag) {
    case 'C': {
        pt_rust_optional_62(r, 's');
        const struct pt_rust_identifier name = pt_rust_identifier(r);
        pt_rust_put_identifier(r, &name);
        break;
    }
    case 'N':
        nested_path(r, is_value);
        break;
    case 'M':
    case 'X':
    case 'Y':
        implementation(r, tag);
        break;
    case 'I':
        read_path(r, is_value);
        pt_rust_put(r, is_value ? "::<" : "<");
        pt_rust_list(r, generic_argument, ", ");
        pt_rust_put(r, ">");
        break;
    case 'B':
        pt_rust_back_reference(r, read_path, is_value);
        break;
    default:
        pt_rust_fail(r);
    }
    r->depth--;
}

/* ---- types ---- */

static const char *basic_type(char tag)
{
    static const char *const names['z' - 'a' + 1] = {
        "i8",   "bool", "char", "f64", "str", "f32", NULL,  "u8", "isize", "usize", NULL,  "i32", "u32",
        "i128", "u128", "_",    NULL,  NULL,  "i16", "u16", "()", "...",   NULL,    "i64", "u64", "!"};
    return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void reference(struct pt_rust *r, char tag)
{
    pt_rust_put(r, "&");
    const uint64_t index = pt_rust_eat(r, 'L') ? pt_rust_number_62(r) : 0;
    if (index) {
        lifetime(r, index);
        pt_rust_put(r, " ");
    }
    pt_rust_put(r, tag == 'Q' ? "mut " : "");
    read_type(r);
}

static void function_type(struct pt_rust *r)
{
    const uint64_t n = binder(r);
    if (pt_rust_eat(r, 'U'))
        pt_rust_put(r, "unsafe ");
    if (pt_rust_eat(r, 'K')) {
        struct pt_rust_identifier abi = {.bytes = "C", .n = 1};
        if (!pt_rust_eat(r, 'C'))
            abi = pt_rust_identifier(r);
        pt_rust_put(r, "extern \"");
        for (size_t i = 0; i < abi.n && !r->is_silent; i++)
            pt_str_char(&r->out, abi.bytes[i] == '_' ? '-' : abi.bytes[i]);
        pt_rust_put(r, "\" ");
    }
    pt_rust_put(r, "fn(");
    pt_rust_list(r, read_type, ", ");
    pt_rust_put(r, ")");
    if (!pt_rust_eat(r, 'u')) {
        pt_rust_put(r, " -> ");
        read_type(r);
    }
    r->lifetimes -= r->has_failed ? 0 : n;
}

/* The path of a trait, whose <> stays open for what it binds: Iterator<Item = u8>. */
static void open_path(struct pt_rust *r, bool unused)
{
    (void)unused;
    if (!pt_rust_enter(r))
        return;
    r->is_open = pt_rust_eat(r, 'I');
    if (r->is_open) {
        read_path(r, false);
        pt_rust_put(r, "<");
        pt_rust_list(r, generic_argument, ", ");
        r->is_open = true; /* an argument may have had traits, too */
    } else if (pt_rust_eat(r, 'B')) {
        pt_rust_back_reference(r, open_path, false);
    } else {
        read_path(r, false);
        r->is_open = false;
    }
    r->depth--;
}

static void bound_trait(struct pt_rust *r)
{
    open_path(r, false);
    bool is_open = r->is_open;
    while (pt_rust_eat(r, 'p')) {
        pt_rust_put(r, is_open ? ", " : "<");
        is_open = true;
        const struct pt_rust_identifier name = pt_rust_identifier(r);
        pt_rust_put_identifier(r, &name);
        pt_rust_put(r, " = ");
        read_type(r);
    }
    pt_rust_put(r, is_open ? ">" : "");
}

static void trait_object(struct pt_rust *r)
{
    pt_rust_put(r, "dyn ");
    const uint64_t n = binder(r);
    pt_rust_list(r, bound_trait, " + ");
    r->lifetimes -= r->has_failed ? 0 : n;
    if (!pt_rust_eat(r, 'L'))
        pt_rust_fail(r);
    const uint64_t index = pt_rust_number_62(r);
    if (index) {
        pt_rust_put(r, " + ");
        lifetime(r, index);
    }
}

static void type_again(struct pt_rust *r, bool unused)
{
    (void)unused;
    read_type(r);
}

static void composed_type(struct pt_rust *r, char tag)
{
    switch (tag) {
    case 'R':
    case 'Q':
        reference(r, tag);
        break;
    case 'P':
    case 'O':
        pt_rust_put(r, tag == 'P' ? "*const " : "*mut ");
        read_type(r);
        break;
    case 'A':
    case 'S':
        pt_rust_put(r, "[");
        read_type(r);
        if (tag == 'A') {
            pt_rust_put(r, "; ");
            read_constant(r);
        }
        pt_rust_put(r, "]");
        break;
    case 'T':
        pt_rust_put(r, "(");
        pt_rust_put(r, pt_rust_list(r, read_type, ", ") == 1 ? ",)" : ")");
        break;
    case 'F':
        function_type(r);
        break;
    case 'D':
        trait_object(r);
        break;
    case 'B':
        pt_rust_back_reference(r, type_again, false);
        break;
    default:
        r->at--;
        read_path(r, false);
    }
}

static void read_type(struct pt_rust *r)
{
    if (!pt_rust_enter(r))
        return;
    const char tag = pt_rust_next(r);
    const char *basic = basic_type(tag);
    if (basic)
        pt_rust_put(r, basic);
    else if (!r->has_failed)
        composed_type(r, tag);
    r->depth--;
}

/* ---- constants ---- */

/* Hexadecimal digits up to an underscore; false when they are more than 64 bits. */
static bool hexadecimal(struct pt_rust *r, uint64_t *ret_value, size_t *ret_digits)
{
    bool fits = true;
    *ret_value = 0;
    *ret_digits = 0;
    while (!pt_rust_eat(r, '_') && !r->has_failed) {
        const char c = pt_rust_next(r);
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
            pt_rust_fail(r);
        fits &= !(*ret_value >> 60);
        *ret_value = *ret_value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
        *ret_digits += 1;
    }
    return fits;
}

static void integer(struct pt_rust *r)
{
    uint64_t value;
    size_t digits;
    const char *from = r->text + r->at;
    const bool fits = hexadecimal(r, &value, &digits);
    if (r->has_failed || r->is_silent)
        return;
    if (fits)
        pt_str_printf(&r->out, "%" PRIu64, value);
    else
        pt_str_printf(&r->out, "0x%.*s", (int)digits, from);
}

static void character(struct pt_rust *r)
{
    uint64_t value;
    size_t digits;
    if (!hexadecimal(r, &value, &digits) || value > 0x10ffff)
        pt_rust_fail(r);
    pt_rust_put(r, "'");
    if (value == '\'' || value == '\\')
        pt_rust_put(r, "\\");
    if (!r->has_failed && !r->is_silent)
        pt_str_printf(&r->out, value >= 0x20 && value < 0x7f ? "%c" : "\\u{%x}", (unsigned)value);
    pt_rust_put(r, "'");
}

static void constant_again(struct pt_rust *r, bool unused)
{
    (void)unused;
    read_constant(r);
}

static void read_constant(struct pt_rust *r)
{
    if (!pt_rust_enter(r))
        return;
    const char tag = pt_rust_next(r);
    if (tag == 'p') {
        pt_rust_put(r, "_");
    } else if (tag == 'b') {
        const char value = pt_rust_next(r);
        pt_rust_put(r, value == '1' ? "true" : "false");
        if ((value != '0' && value != '1') || !pt_rust_eat(r, '_'))
            pt_rust_fail(r);
    } else if (tag == 'c') {
        character(r);
    } else if (tag == 'B') {
        pt_rust_back_reference(r, constant_again, false);
    } else if (tag && strchr("hjmotyailnsx", tag)) {
        if (strchr("ailnsx", tag) && pt_rust_eat(r, 'n'))
            pt_rust_put(r, "-");
        integer(r);
    } else {
        pt_rust_fail(r);
    }
    r->depth--;
}

/* ---- names ---- */

char *pt_demangle_rust(const char *name)
{
    static const char allowed[] = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (!strncmp(name, "_ZN", 3))
        return pt_demangle_rust_legacy(name);
    if (strncmp(name, "_R", 2) || name[2] < 'A' || name[2] > 'Z') /* a digit would be a later version */
        return NULL;
    struct pt_rust r = {.text = name + 2, .n = strspn(name + 2, allowed)};
    read_path(&r, true);
    r.is_silent = true;
    if (r.at < r.n)
        read_path(&r, false); /* the crate that instantiated it */
    const char end = r.text[r.n];
    if (!r.has_failed && r.at == r.n && (!end || end == '.') && r.out.n) /* ".llvm.123" */
        return r.out.text;
    pt_str_fini(&r.out);
    return NULL;
}
