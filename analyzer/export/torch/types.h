/* SPDX-License-Identifier: MIT
 *
 * torch/types.h - the PyTorch-profiler trace of one process: one file, written while the events of all processes pass
 * by.
 */
#ifndef PT_EXPORT_TORCH_TYPES_H
#define PT_EXPORT_TORCH_TYPES_H

#include "export/export.h"
#include "export/selection.h"
#include "util/map.h"
#include "util/vec.h"

struct pt_torch_link;      /* projection.c */
struct pt_torch_projected; /* projection.c */

/* Where the event was recorded that a call waits for. */
struct pt_torch_recorded {
    pt_u32 waiter, correlation, queue; /* waiter: the call's correlation; 0 = none */
};
#define PT_TORCH_RECORDED 1024u /* calls that wait at once */

/* A range or step that has begun. */
struct pt_torch_open {
    pt_u64 id; /* of range_open; a step's number */
    pt_u32 name, tid;
    pt_i64 start_ns;
    struct pt_torch_projected *projected; /* on the GPU; NULL = not wanted */
};

struct pt_torch_thread {
    struct {
        PT_VEC(struct pt_torch_open);
    } ranges;
    struct pt_torch_open step;
    bool has_step, is_named;
    pt_u64 ranges_left_out; /* that are open inside of `ranges` */
    pt_u32 holes;           /* in its events, that were passed */
};

struct pt_torch_device {
    pt_u32 number;
    pt_u32 multiprocessors, warp_threads; /* 0 = not known */
    pt_u64 memory_bytes, allocated_bytes;
    const char *name, *properties; /* of the process's strings; NULL = not known */
};

struct pt_torch_file {
    struct pt_process *process;
    struct pt_sink *sink; /* NULL = it is not being written now */
    char *path;           /* for people */
    struct pt_export_summary *summary;
    pt_u32 rank, world_size;
    struct pt_window window;
    pt_i64 min_duration_ns;
    bool has_lines;
    bool is_on_cpu;                  /* a training that used no GPU */
    pt_u32 n_samples;                /* slices of CPU samples */
    struct pt_torch_thread *threads; /* by thread index */
    struct {
        PT_VEC(struct pt_torch_open);
    } ranges; /* that may overlap others */
    struct {
        PT_VEC(struct pt_torch_device);
    } devices;
    struct pt_map device_at;            /* by number: index into devices, plus 1 */
    struct pt_map streams;              /* device << 32 | stream: named already */
    struct pt_map kernels;              /* by string id: names as people write them */
    pt_u64 optimizer, phase_steps;      /* where phases make steps: whose, and how many */
    struct pt_torch_projected *step;    /* the last that began, of any thread; NULL = it has ended */
    struct pt_torch_link *links;        /* the last launches, by correlation */
    struct pt_torch_recorded *recorded; /* by the waiter's correlation */
    struct {
        PT_VEC(struct pt_torch_projected *);
    } steps; /* that are over, for the end of the file */
};

#endif
