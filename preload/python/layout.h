/* SPDX-License-Identifier: MIT
 *
 * layout.h - where this interpreter keeps its threads and frames, and whether that is true.
 */
#ifndef PT_PYTHON_LAYOUT_H
#define PT_PYTHON_LAYOUT_H

#include "proftrace/python_walk.h"

/* The version that the interpreter tells; 0 when it cannot be read. */
pt_u32 pt_python_version(void);

/* Fill in all but state and note. NULL, or why it is not known. */
const char *pt_python_layout_find(struct pt_python_header *ret);

/* Compare what a walk of the calling thread finds with what the interpreter says itself. NULL, or what differs. In a
 * call from Python code that the thread runs, with the GIL held; once. */
const char *pt_python_layout_check(const struct pt_python_header *python);

/* Reads of the process's own memory. */
PT_PYTHON_INLINE int pt_python_read_own(void *unused, pt_u64 address, void *to, pt_u64 bytes)
{
    (void)unused;
    __builtin_memcpy(to, (const void *)address, bytes);
    return 0;
}

#endif
