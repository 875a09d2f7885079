/* SPDX-License-Identifier: MIT
 *
 * python/lines.h - the line of an instruction, from the table that CPython keeps with its code.
 */
#ifndef PT_CPU_PROFILE_PYTHON_LINES_H
#define PT_CPU_PROFILE_PYTHON_LINES_H

#include <stddef.h>

#include "proftrace/types.h"

struct pt_python_lines {
    const pt_u8 *table;
    size_t n_bytes;
    pt_i32 first_line;
    pt_u32 version; /* PY_VERSION_HEX: the table's form depends on it */
};

/* `offset`: of the instruction in bytes; below 0 = the function has not begun. 0 = it belongs to no line. */
pt_u32 pt_python_line(const struct pt_python_lines *lines, pt_i64 offset);

#endif
