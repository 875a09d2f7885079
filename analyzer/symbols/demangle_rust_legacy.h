/* SPDX-License-Identifier: MIT
 *
 * demangle_rust_legacy.h - names that Rust mangled as if they were C++: "_ZN...17h<hash>E".
 */
#ifndef PT_SYMBOLS_DEMANGLE_RUST_LEGACY_H
#define PT_SYMBOLS_DEMANGLE_RUST_LEGACY_H

/* The name without its hash, to be freed; NULL when it is C++'s. */
char *pt_demangle_rust_legacy(const char *name);

#endif
