/* SPDX-License-Identifier: MIT
 *
 * facts/code_kind.h - what code is, by the name of its file or function: Python's interpreter, an allocator, libc ...
 * code_kind.def has the names.
 */
#ifndef PT_FACTS_CODE_KIND_H
#define PT_FACTS_CODE_KIND_H

#include <stdbool.h>

enum pt_code_kind {
    PT_CODE_OTHER,
    PT_CODE_PYTHON, /* the interpreter */
    PT_CODE_LIBC,   /* and what comes with it */
    PT_CODE_LOADER, /* of libraries */
    PT_CODE_KERNEL,
    PT_CODE_CUT,    /* what called this was not found */
    PT_CODE_TRACER, /* ourselves */
    PT_CODE_ALLOCATOR,
    PT_CODE_ABOVE_ALLOCATOR, /* calls it for others */
    PT_CODE_MAPPING,         /* gets memory from the kernel */
    PT_CODE_DECODER,         /* of images, sound, tables */
    PT_CODE_FRAMEWORK,       /* trains models */
    PT_CODE_JIT,             /* made while the program ran: in memory that is no file */
};

/* `path`: NULL = unknown. */
enum pt_code_kind pt_code_of_file(const char *path);
enum pt_code_kind pt_code_of_function(const char *name);
/* As a program calls it: "munmap" for __munmap, "write" for __GI___libc_write. */
const char *pt_code_name_in_libc(const char *name);
/* What made the code that a function of this file calls and that is in no file: "oneDNN". NULL = neither says.
 * `function`: NULL = unknown. */
const char *pt_code_jit_of(const char *path, const char *function);
/* A function of a file of some kind; `source`: NULL = unknown. */
bool pt_code_is_allocator(enum pt_code_kind file, const char *source, const char *function);
/* Code that does what its caller does. */
static inline bool pt_code_serves(enum pt_code_kind kind)
{
    return kind == PT_CODE_LIBC || kind == PT_CODE_KERNEL || kind == PT_CODE_TRACER;
}

#endif
