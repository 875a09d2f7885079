/* SPDX-License-Identifier: MIT
 *
 * demangle.h - names of C++ and Rust as people write them. Uses the C++ runtime of the machine where there is one. One
 * thread.
 */
#ifndef PT_SYMBOLS_DEMANGLE_H
#define PT_SYMBOLS_DEMANGLE_H

/* The demangled name, to be freed; NULL when `name` is not mangled or cannot be demangled here. */
char *pt_demangle(const char *name);

#endif
