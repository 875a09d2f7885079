/* SPDX-License-Identifier: MIT
 *
 * demangle_rust_punycode.h - identifiers of Rust that are not ASCII, in both manglings.
 */
#ifndef PT_SYMBOLS_DEMANGLE_RUST_PUNYCODE_H
#define PT_SYMBOLS_DEMANGLE_RUST_PUNYCODE_H

#include "util/str.h"

/* An identifier of `n` bytes as the compiler writes it, "caf_dma"; as it is where it cannot be read. */
void pt_rust_punycode(struct pt_str *out, const char *bytes, size_t n);
/* One character, as UTF-8. */
void pt_rust_character(struct pt_str *out, unsigned code);

#endif
