/* SPDX-License-Identifier: MIT
 *
 * python.h - what the library knows of the CPython in a process: frames as numbers, and where the interpreter keeps its
 * threads and frames, so that who reads it from outside needs no table of versions.
 */
#ifndef PROFTRACE_PYTHON_H
#define PROFTRACE_PYTHON_H

#include "types.h"

/* ---- a frame of Python in a stack ----
 * The string says "<line>:<first line>:<function>:<file>": "41:38:Set.load:/app/data.py". The function is qualified
 * where CPython says so (3.11); the file comes last, because it may hold colons. Line 0 is unknown. No address of a
 * process has the highest bit. */
#define PT_PYTHON_FRAME_BIT (1ull << 63)

static inline pt_u64 pt_python_frame(pt_u32 name)
{
    return PT_PYTHON_FRAME_BIT | name;
}

static inline int pt_frame_is_python(pt_u64 frame)
{
    return frame >> 32 == PT_PYTHON_FRAME_BIT >> 32;
}

static inline pt_u32 pt_python_frame_name(pt_u64 frame)
{
    return (pt_u32)frame;
}

/* ---- the interpreter ---- */
enum pt_python_state {
    PT_PYTHON_NONE = 0,      /* no interpreter was seen */
    PT_PYTHON_SEEN = 1,      /* one runs; nothing was asked of it yet */
    PT_PYTHON_READY = 2,     /* phases and stacks are recorded; the layout below was checked against the interpreter */
    PT_PYTHON_NO_STACKS = 3, /* phases only: the layout is not as its version says (debug build, patched) */
    PT_PYTHON_REFUSED = 4,   /* left alone: too old, or it could not be entered without a risk */
    PT_PYTHON_OFF = 5,       /* PROFTRACE_PYTHON=0 */
};

/* Offsets in bytes from the start of the struct that is named; 0xffff = this version has no such member. */
struct pt_python_layout {
    pt_u16 interpreter_threads; /* PyInterpreterState: its first PyThreadState */
    pt_u16 thread_next;         /* PyThreadState */
    pt_u16 thread_native_id;    /* kernel's thread id, from 3.11 on */
    pt_u16 thread_pthread_id;   /* pthread_t */
    pt_u16 thread_frame;        /* its frame, or its _PyCFrame in 3.11 and 3.12 */
    pt_u16 cframe_frame;        /* _PyCFrame: the frame, or 0xffff */
    pt_u16 frame_code;
    pt_u16 frame_previous;
    pt_u16 frame_instruction; /* pointer to an instruction from 3.11 on, before that an index */
    pt_u16 frame_owner;       /* char, from 3.11 on */
    pt_u16 code_name;
    pt_u16 code_qualified_name; /* from 3.11 on */
    pt_u16 code_file;
    pt_u16 code_first_line;
    pt_u16 code_lines;        /* lnotab, or the table that replaced it */
    pt_u16 code_instructions; /* from 3.11 on: inside the object */
    pt_u16 object_type;
    pt_u16 bytes_size; /* of a bytes object */
    pt_u16 bytes_data;
    pt_u16 text_length; /* of a str, in characters */
    pt_u16 text_state;
    pt_u16 text_ascii;   /* characters of a compact ASCII str */
    pt_u16 text_compact; /* of another compact str */
    pt_u16 spare[9];
};

/* In the file header. The state is stored last, and again when it changes. */
struct pt_python_header {
    pt_u32 state;       /* enum pt_python_state */
    pt_u32 version;     /* PY_VERSION_HEX */
    pt_u64 interpreter; /* the main PyInterpreterState */
    pt_u64 code_type;   /* PyCode_Type: what is no code object is no frame */
    struct pt_python_layout layout;
    char note[64]; /* why stacks or all of it were left out; NUL-terminated */
};
_Static_assert(sizeof(struct pt_python_layout) == 64 && sizeof(struct pt_python_header) == 152, "on disk");

#endif
