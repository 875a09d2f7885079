/* SPDX-License-Identifier: MIT
 *
 * cpu_data.h - cpu-<stage>.pcp: what the launcher saw the threads of a stage do with the CPUs, see cpu_file/format.h.
 *
 * Absent without the launcher. Whatever is in the file, the data here is consistent: numbers of threads, modules and
 * nodes exist, stacks end, times add up without overflow. Data after a damaged place is lost, and that is reported.
 */
#ifndef PT_CPU_FILE_CPU_DATA_H
#define PT_CPU_FILE_CPU_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "format.h"
#include "jit_map.h"

struct pt_cpu_file {
    const char *path; /* "" = memory that is no file */
    pt_u8 build_id[PT_CPU_BUILD_ID_BYTES];
    pt_u32 build_id_bytes;
};

/* A line of a function of Python. */
struct pt_cpu_python_name {
    const char *function, *file; /* never NULL */
    pt_u32 line, first_line;     /* 0 = unknown */
};

struct pt_cpu_data {
    struct pt_cpu_header header;
    struct pt_cpu_totals totals;
    const char *note;              /* why something is missing; NULL = nothing is */
    bool is_cut;                   /* it ends early, or is damaged */
    struct pt_cpu_file *modules;   /* by number; those below PT_CPU_MODULE__FIRST have no path */
    struct pt_cpu_thread *threads; /* by number; 0 = not known which */
    struct pt_cpu_times *times;    /* by number of thread */
    pt_u32 python_module;          /* that of nodes whose address is an index of python_names; 0 = there is none */
    struct pt_cpu_python_name *python_names;
    struct pt_cpu_node *nodes;            /* by number; 0 = no frame. A parent's number is less than its child's */
    struct pt_cpu_count *counts;          /* of thread and node: all samples, also those that are in `samples` */
    struct pt_cpu_sample *samples;        /* roughly in the order in which they were taken */
    struct pt_cpu_wait *waits;            /* those with a stack, roughly in the order of their ends */
    struct pt_cpu_wait_sums *wait_sums;   /* of all waits, by number of thread */
    struct pt_cpu_interval *intervals;    /* in the order of their ends */
    struct pt_cpu_fault_sums *fault_sums; /* by number of thread */
    struct pt_cpu_kernel *kernel;         /* by number of thread; 0 = it was not asked while the thread lived */
    struct pt_jit_map **jit_maps;         /* by number of a process's main thread; NULL = there are none at all */
    size_t n_modules, n_threads, n_nodes, n_counts, n_samples, n_waits, n_intervals;
    struct pt_arena texts;
};

void pt_cpu_data_free(struct pt_cpu_data *data);

#endif
