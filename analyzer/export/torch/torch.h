/* SPDX-License-Identifier: MIT
 *
 * torch.h - the PyTorch-profiler trace of one process: one file, written while the events of all processes pass by.
 */
#ifndef PT_EXPORT_TORCH_TORCH_H
#define PT_EXPORT_TORCH_TORCH_H

#include "export/export.h"
#include "export/timeline/gpu_names.h"
#include "util/map.h"
#include "util/vec.h"

struct pt_torch_projected;
struct pt_torch_link;

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
    struct pt_torch_projected *projected; /* on the GPU; NULL = not asked for */
};

struct pt_torch_thread {
    struct {
        PT_VEC(struct pt_torch_open);
    } ranges;
    struct pt_torch_open step;
    bool has_step, is_named;
    pt_u64 ranges_left_out; /* that are open inside of `ranges` */
};

struct pt_torch_device {
    pt_u32 number;
    pt_u32 multiprocessors, warp_threads; /* 0 = not told */
    pt_u64 memory_bytes, allocated_bytes;
    const char *name, *properties; /* of the process's strings; NULL = not told */
};

struct pt_torch_file {
    struct pt_process *process;
    struct pt_sink *sink;
    char *path;
    struct pt_export_summary *summary;
    pt_u32 rank, world_size;
    pt_i64 from_ns, until_ns, min_duration_ns;
    bool has_lines, is_written;
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
    struct pt_torch_projected *step;    /* the last that began, of any thread; NULL = it has ended */
    struct pt_torch_link *links;        /* the last launches, by correlation */
    struct pt_torch_recorded *recorded; /* by the waiter's correlation */
    struct {
        PT_VEC(struct pt_torch_projected *);
    } steps; /* that are over, for the end of the file */
};

/* ---- torch/file.c ---- */

int pt_torch_open(struct pt_torch_file *file, const char *folder, pt_u64 max_bytes, struct pt_error *err);
void pt_torch_event(struct pt_torch_file *file, const struct pt_event *event);
/* What is still open, devices, the end of the file. */
int pt_torch_close(struct pt_torch_file *file, struct pt_sink_result *ret_result, struct pt_error *err);
/* Frees all but what pt_torch_close freed: the file is left out when it was not closed. */
void pt_torch_free(struct pt_torch_file *file);

const char *pt_torch_process_name(const struct pt_torch_file *file);
#define PT_TORCH_STEP_BYTES 40
const char *pt_torch_step_name(char text[PT_TORCH_STEP_BYTES], pt_u64 number);
const char *pt_torch_range_name(const struct pt_torch_file *file, pt_u32 name);

/* ---- torch/gpu.c ---- */

void pt_torch_gpu_event(struct pt_torch_file *file, const struct pt_event *event);
struct pt_torch_device *pt_torch_device(struct pt_torch_file *file, pt_u32 number);
void pt_torch_put_devices(struct pt_torch_file *file);

/* ---- torch/projection.c ---- */

/* Of a range that began inside another one of its thread, or inside none. */
struct pt_torch_projected *pt_torch_project_range(struct pt_torch_projected *outer, pt_u32 name);
struct pt_torch_projected *pt_torch_project_step(pt_u64 number);
/* It has ended on its thread; its work may still come. */
void pt_torch_project_end(struct pt_torch_file *file, struct pt_torch_projected *range);
/* A call that can start work, made in the ranges that are open on its thread. */
void pt_torch_project_call(struct pt_torch_file *file, const struct pt_event *event);
void pt_torch_project_work(struct pt_torch_file *file, pt_u32 correlation, const struct pt_gpu_queue *queue,
                           pt_i64 start_ns, pt_i64 end_ns);
/* Writes what is left, after all ranges have ended; without a sink it frees only. */
void pt_torch_project_finish(struct pt_torch_file *file);

/* ---- lines, torch/line.c ---- */

/* {"ph":"X","cat":"kernel","name":"...","pid":0,"tid":7,"ts":0.000  : `pid` and `tid` may be -1, as PyTorch has it. */
char *pt_torch_begin(struct pt_torch_file *file, char phase, const char *category, const char *name, pt_i64 pid,
                     pt_i64 tid, pt_i64 at_ns);
void pt_torch_end(struct pt_torch_file *file, char *at);
/* ,"dur":1.000,"args":{"correlation":7 : the part of a span that lies in the window. */
char *pt_torch_span(char *at, pt_i64 duration_ns);
char *pt_torch_arg(char *at, const char *key, pt_i64 value);
void pt_torch_name(struct pt_torch_file *file, const char *what, const char *key, pt_i64 pid, pt_i64 tid,
                   const char *name, pt_i64 sort_index);
void pt_torch_flow(struct pt_torch_file *file, char phase, pt_u32 correlation, pt_i64 pid, pt_i64 tid, pt_i64 at_ns);
bool pt_torch_clip(const struct pt_torch_file *file, const struct pt_event *event, pt_i64 *start_ns, pt_i64 *end_ns);

#endif
