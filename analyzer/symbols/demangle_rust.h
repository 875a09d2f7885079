/* SPDX-License-Identifier: MIT
 *
 * demangle_rust.h - names of Rust functions as people write them, both manglings: "_R..." and "_ZN...17h<hash>E".
 */
#ifndef PT_SYMBOLS_DEMANGLE_RUST_H
#define PT_SYMBOLS_DEMANGLE_RUST_H

#include "util/str.h"

/* The name without hashes, to be freed; NULL when it is none of Rust's, or would be longer than 8 KiB. */
char *pt_demangle_rust(const char *name);

/* ---- the older mangling and what both need: demangle_rust_text.c ---- */

char *pt_demangle_rust_legacy(const char *name);
/* An identifier that is not ASCII: `n` bytes as the compiler writes them, "caf_dma". */
void pt_rust_punycode(struct pt_str *out, const char *bytes, size_t n);
void pt_rust_character(struct pt_str *out, unsigned code);

#endif
