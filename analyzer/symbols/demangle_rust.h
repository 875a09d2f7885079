/* SPDX-License-Identifier: MIT
 *
 * demangle_rust.h - names of Rust functions as people write them, both manglings: "_R..." and "_ZN...17h<hash>E".
 */
#ifndef PT_SYMBOLS_DEMANGLE_RUST_H
#define PT_SYMBOLS_DEMANGLE_RUST_H

/* The name without hashes, to be freed; NULL when it is none of Rust's, or would be longer than 8 KiB. */
char *pt_demangle_rust(const char *name);

#endif
