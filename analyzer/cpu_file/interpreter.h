/* SPDX-License-Identifier: MIT
 *
 * cpu_file/interpreter.h - whether a file is CPython's: libpython3.11.so.1.0, python3.
 */
#ifndef PT_CPU_FILE_INTERPRETER_H
#define PT_CPU_FILE_INTERPRETER_H

#include <stdbool.h>
#include <string.h>

#include "util/text/path.h"

static inline bool pt_is_interpreter(const char *path)
{
    const char *base = pt_base_name(path);
    return !strncmp(base, "libpython", 9) ||
           (!strncmp(base, "python", 6) && (!base[6] || (base[6] >= '0' && base[6] <= '9')));
}

#endif
