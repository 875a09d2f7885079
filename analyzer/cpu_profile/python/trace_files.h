/* SPDX-License-Identifier: MIT
 *
 * python/trace_files.h - what processes of the stage say of their interpreters, in the first page of their trace files.
 */
#ifndef PT_CPU_PROFILE_PYTHON_TRACE_FILES_H
#define PT_CPU_PROFILE_PYTHON_TRACE_FILES_H

#include <stdbool.h>

#include "proftrace/python.h"
#include "util/map.h"

struct pt_trace_files {
    int directory_fd;
    struct pt_intern names;
    struct pt_map newest;   /* pid -> struct known_file *: the one that was found last, then earlier ones */
    struct pt_map is_known; /* name -> 1 */
    struct pt_arena memory;
    pt_u64 next_scan_ns;
};

/* False = none of the process's files says that an interpreter runs and can be read. */
bool pt_trace_files_python(struct pt_trace_files *files, pt_u32 pid, pt_u64 now_ns,
                           struct pt_python_header *ret_header);
void pt_trace_files_fini(struct pt_trace_files *files);

#endif
