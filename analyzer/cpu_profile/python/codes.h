/* SPDX-License-Identifier: MIT
 *
 * python/codes.h - functions of Python by their code objects in another process, and names of their lines, which are
 * the same for all processes.
 */
#ifndef PT_CPU_PROFILE_PYTHON_CODES_H
#define PT_CPU_PROFILE_PYTHON_CODES_H

#include "cpu_file/write.h"
#include "proftrace/python.h"
#include "util/map.h"
#include "remote.h"

/* Numbers from 1, in the order of the file; the texts are those of frames in python.h. */
struct pt_python_names {
    struct pt_intern texts;
    struct pt_map numbers;        /* text -> number */
    struct pt_chunk_buffer fresh; /* not in the file yet */
    struct pt_remote_window window;
};

struct pt_python_seen;

/* Of one process, as it was when its header was read. */
struct pt_python_codes {
    pt_u32 pid;
    struct pt_python_header header;
    pt_u32 head_bytes;           /* of a code object, with all that is asked of it */
    struct pt_python_seen *seen; /* shared with the process that it was forked from */
};

enum { PT_PYTHON_CODE_BYTES_MAX = 512 };

/* `parent`: of the process that it was forked from, whose code objects are its own; NULL = not known. False for a
 * layout that no CPython has. */
bool pt_python_codes_open(struct pt_python_codes *codes, pt_u32 pid, const struct pt_python_header *header,
                          const struct pt_python_codes *parent);
void pt_python_codes_close(struct pt_python_codes *codes);

/* A frame's code and where in it: `head` is the beginning of the code object. Returns the number of the name; 0 = it is
 * no code. */
pt_u32 pt_python_code_name(const struct pt_python_codes *codes, struct pt_python_names *names, pt_u64 address,
                           const pt_u8 *head, pt_u64 instruction);

void pt_python_names_fini(struct pt_python_names *names);

#endif
