/* SPDX-License-Identifier: MIT
 *
 * python/stacks.h - what a thread of another process runs in Python, read while it goes on.
 */
#ifndef PT_CPU_PROFILE_PYTHON_STACKS_H
#define PT_CPU_PROFILE_PYTHON_STACKS_H

#include "codes.h"
#include "remote.h"

enum { PT_PYTHON_DEPTH_MAX = 160 };

/* Numbers of names, innermost first. */
struct pt_python_stack {
    pt_u32 n;
    bool is_cut; /* its outermost frames are missing */
    pt_u32 names[PT_PYTHON_DEPTH_MAX];
    bool
        was_entered[PT_PYTHON_DEPTH_MAX]; /* C called the interpreter for it, and the ones inside it ran in that call */
};

/* The interpreter of a process. */
struct pt_python_process {
    struct pt_python_codes codes;
    struct pt_map threads; /* tid -> address of its PyThreadState; 0 = it has none */
    pt_u64 listed_ns;      /* when the list of threads was read last */
    pt_u32 n_living;       /* how many it had then */
};

/* Room for one read; it is large, and used again. */
struct pt_python_scratch {
    struct pt_remote_window frames;
    pt_u8 codes[PT_PYTHON_DEPTH_MAX * PT_PYTHON_CODE_BYTES_MAX];
};

/* `parent`: the process that it was forked from; NULL = not known. False for a header that says nothing that can be
 * used. */
bool pt_python_process_open(struct pt_python_process *process, pt_u32 pid, const struct pt_python_header *header,
                            const struct pt_python_process *parent);
void pt_python_process_close(struct pt_python_process *process);

/* False when it runs no Python, or changed too much while it was read; errno is EPERM or ENOSYS where reading is not
 * allowed, else 0. */
bool pt_python_stack_read(struct pt_python_process *process, struct pt_python_scratch *scratch,
                          struct pt_python_names *names, pt_u32 tid, struct pt_python_stack *ret_stack);
/* All threads that its interpreter knows; valid until the next call for this process. */
const struct pt_map *pt_python_threads(struct pt_python_process *process, pt_u64 now_ns);

#endif
