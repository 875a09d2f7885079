/* SPDX-License-Identifier: MIT
 *
 * torch_file/window.h - a window of torch.profiler that PROFTRACE_WINDOW asked for: its spans, nested and on our clock.
 *
 * The profiler's clock differs by version: relative, of the epoch, in microseconds or finer. So the library puts
 * markers into each trace, ranges whose names are our clock's time; from the nearest of them at each end follows when
 * all else was.
 */
#ifndef PT_TORCH_FILE_WINDOW_H
#define PT_TORCH_FILE_WINDOW_H

#include <stdbool.h>
#include <string.h>

#include "proftrace/types.h"
#include "util/error.h"
#include "util/map.h"
#include "util/vec.h"
#include "trace_events.h"

/* "ProfilerStep#7": the range that torch.profiler makes of each step. */
static inline bool pt_torch_is_step(const char *name)
{
    return !strncmp(name, "ProfilerStep#", 13);
}

enum pt_torch_window_kind { PT_TORCH_STEPS, PT_TORCH_EVERY, PT_TORCH_EPOCH, PT_TORCH_VALIDATION };

struct pt_torch_span {
    const char *name;
    const char *shapes; /* "" = not recorded */
    enum pt_torch_kind kind;
    pt_u32 thread;   /* index into threads */
    pt_u32 depth;    /* of spans around it, of its thread */
    pt_i64 start_ns; /* CLOCK_MONOTONIC */
    pt_i64 took_ns;
    pt_i64 self_ns;    /* without the spans inside it */
    double flops;      /* as torch.profiler counts them; NAN = not known */
    double self_bytes; /* taken less given back on the CPU, without the spans inside it */
    double peak_bytes; /* the most that the allocator held on the CPU while it ran; < 0: not known */
};

struct pt_torch_window {
    char *file; /* below the run directory */
    enum pt_torch_window_kind kind;
    pt_u32 pid, thread_id; /* of the thread that made the markers */
    pt_u64 first_step;     /* steps that were done before it; epoch: the first is 1 */
    pt_u32 epoch;
    pt_u64 parameters;       /* of the optimizer; 0 = not known */
    double peak_flops_per_s; /* that the device is capable of, as the user said; 0 = nobody did */
    pt_i64 start_ns, end_ns; /* between the markers */
    pt_u64 steps;            /* that it holds */
    pt_i64 steps_ns;
    struct {
        PT_VEC(struct pt_torch_span); /* by thread and time; GPU's work has no thread of its own and comes last */
    } spans;
    struct {
        PT_VEC(pt_u64); /* the kernel's number; 0 = a thread that cannot be told */
    } threads;
    bool has_shapes, has_memory;
    bool is_cut;     /* the file is not whole */
    pt_u64 left_out; /* events beyond those that are kept */
    struct pt_intern texts;
};

/* -1: it cannot be read, or it has no markers of ours. */
int pt_torch_window_read(int directory, const char *name, const char *file, struct pt_torch_window *ret_window,
                         struct pt_error *err);
void pt_torch_window_fini(struct pt_torch_window *window);

/* Each trace below RUN/torch, in the order of names: `window` is the callback's only while it runs; NULL: why that file
 * could not be read. */
typedef void pt_torch_window_seen(void *context, const struct pt_torch_window *window, const char *file,
                                  const struct pt_error *problem);
void pt_torch_windows_each(const char *run, pt_torch_window_seen *seen, void *context);

/* The files alone: in the folder of the model, open as `folder`. -1 from the callback ends it and is returned. */
typedef int pt_torch_file_found(void *context, int folder, const char *model, const char *name);
int pt_torch_files_each(const char *run, pt_torch_file_found *found, void *context);

#endif
