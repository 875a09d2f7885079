/* SPDX-License-Identifier: MIT
 *
 * demangle_rust.c - a name of Rust: which of the two manglings it is, and paths, of which the newer one is made.
 *
 * Owns nothing; any thread. Never: shows hashes, nor the crate that a generic function was compiled for. */
#include "demangle_rust_v0.h"

#include <stdlib.h>
#include <string.h>

/* ---- paths ---- */

static void nested_path(struct pt_rust *r, bool is_value)
{
    const char space = pt_rust_next(r);
    pt_rust_path(r, is_value);
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

/* <T>, <T as Trait>; where the impl stands is nobody's concern. */
static void implementation(struct pt_rust *r, char tag)
{
    if (tag != 'Y') {
        const bool was_silent = r->is_silent;
        r->is_silent = true;
        pt_rust_optional_62(r, 's');
        pt_rust_path(r, false);
        r->is_silent = was_silent;
    }
    pt_rust_put(r, "<");
    pt_rust_type(r);
    if (tag != 'M') {
        pt_rust_put(r, " as ");
        pt_rust_path(r, false);
    }
    pt_rust_put(r, ">");
}

void pt_rust_path(struct pt_rust *r, bool is_value)
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
        pt_rust_path(r, is_value);
        pt_rust_put(r, is_value ? "::<" : "<");
        pt_rust_list(r, pt_rust_generic_argument, ", ");
        pt_rust_put(r, ">");
        break;
    case 'B':
        pt_rust_back_reference(r, pt_rust_path, is_value);
        break;
    default:
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
    pt_rust_path(&r, true);
    r.is_silent = true;
    if (r.at < r.n)
        pt_rust_path(&r, false); /* the crate that asked for it */
    const char end = r.text[r.n];
    if (!r.has_failed && r.at == r.n && (!end || end == '.') && r.out.n) /* ".llvm.123" */
        return r.out.text;
    pt_str_fini(&r.out);
    return NULL;
}
