/* SPDX-License-Identifier: MIT
 *
 * facts/code_kind.h - what code is, by the name of its file or function: Python's interpreter, an allocator, libc ...
 * code_kind.def has the names.
 */
#ifndef PT_FACTS_CODE_KIND_H
#define PT_FACTS_CODE_KIND_H

#include <stdbool.h>

#include "profile/stacks.h"

enum pt_code_kind {
    PT_CODE_OTHER,
    PT_CODE_PYTHON, /* the interpreter */
    PT_CODE_SCRIPT, /* a function of Python */
    PT_CODE_LIBC,   /* and its companion libraries */
    PT_CODE_LOADER, /* of libraries */
    PT_CODE_KERNEL,
    PT_CODE_CUT,    /* what called this was not found */
    PT_CODE_TRACER, /* ourselves */
    PT_CODE_ALLOCATOR,
    PT_CODE_ABOVE_ALLOCATOR, /* calls an allocator for others */
    PT_CODE_MAPPING,         /* gets memory from the kernel */
    PT_CODE_DECODER,         /* of images, sound, tables */
    PT_CODE_FRAMEWORK,       /* trains models */
    PT_CODE_CARRIER,         /* calls what it was given: says nothing of what that is for */
    PT_CODE_JIT,             /* made while the program ran: in memory that is no file */
};

/* `path`: NULL = unknown. */
enum pt_code_kind pt_code_of_file(const char *path);
enum pt_code_kind pt_code_of_function(const char *name);
/* As a program calls it: "munmap" for __munmap, "write" for __GI___libc_write. */
const char *pt_code_name_in_libc(const char *name);
/* How long a function's name is without its parameters, which would hide what stands behind it. */
int pt_code_plain_length(const char *name);

/* What the name of a function tells about code without a name that it calls. */
enum pt_code_hint {
    PT_CODE_SAYS_NOTHING, /* everybody's caller, as what starts threads, or everybody's servant */
    PT_CODE_CARRIES,      /* it calls what it was given: its own caller may say more */
    PT_CODE_SAYS,
};
enum pt_code_hint pt_code_hint_of(const char *name, enum pt_code_kind file, bool is_same_file);

/* What made the code that a function of this file calls and that is in no file: "oneDNN". NULL = neither says.
 * `function`: NULL = unknown. */
const char *pt_code_jit_of(const char *path, const char *function);
/* What programs are made of, and where it lies: modules of Python, libraries, the directories that are searched for
 * them. It is read when a program starts or imports, and is no data. */
#define PT_PROGRAM_FILES "imports and libraries" /* what tables call all of them together */
bool pt_code_is_program_file(const char *path);
bool pt_code_is_program_directory(const char *path);
/* A function of a file of some kind; `source`: NULL = unknown. */
bool pt_code_is_allocator(enum pt_code_kind file, const char *source, const char *function);
/* PT_FRAME_* of a frame in a file of some kind. */
pt_u32 pt_frame_flags(enum pt_code_kind file);
/* Code that does what its caller does. */
static inline bool pt_code_serves(enum pt_code_kind kind)
{
    return kind == PT_CODE_LIBC || kind == PT_CODE_KERNEL || kind == PT_CODE_TRACER;
}

#endif
