/* SPDX-License-Identifier: MIT
 *
 * cpu_file/python_name.h - the text of a frame of Python, as python.h has it, taken apart.
 */
#ifndef PT_CPU_FILE_PYTHON_NAME_H
#define PT_CPU_FILE_PYTHON_NAME_H

#include "util/vec.h"
#include "cpu_data.h"

struct pt_cpu_python_names {
    PT_VEC(struct pt_cpu_python_name); /* 0 is not used */
};

/* The names of a chunk; their texts live as long as `texts`. What is no such text is the name of a function of which
 * nothing else is known. False when the last one does not end, or they are too many. */
bool pt_cpu_python_names_add(struct pt_cpu_python_names *names, struct pt_arena *texts, const pt_u8 *bytes, size_t n);

#endif
