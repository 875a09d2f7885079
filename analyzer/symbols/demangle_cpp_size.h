/* SPDX-License-Identifier: MIT
 *
 * demangle_cpp_size.h - how long a name of C++ becomes when people read it: a mangled one may name the same type again
 * by two characters, and a type that names another one twice, which names another one twice, is exponential.
 */
#ifndef PT_SYMBOLS_DEMANGLE_CPP_SIZE_H
#define PT_SYMBOLS_DEMANGLE_CPP_SIZE_H

/* At most so many bytes, of a name that begins with "_Z"; INFINITY = nobody knows. Reads the name once or a few times,
 * whatever it says. */
double pt_demangled_bytes_at_most(const char *name);

#endif
