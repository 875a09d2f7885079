/* SPDX-License-Identifier: MIT
 *
 * torch/line.h - one line of a PyTorch-profiler trace after another, counted, and the names in them.
 *
 *     char *at = pt_torch_slice_begin(file, "kernel", name, track, start_ns, end_ns);
 *     at = pt_torch_arg(at, "stream", 7);
 *     pt_torch_slice_end(file, at);
 */
#ifndef PT_EXPORT_TORCH_LINE_H
#define PT_EXPORT_TORCH_LINE_H

#include "types.h"

/* The place of a line in the viewer: a process and its thread, or a device and its stream; -1 as in PyTorch. */
struct pt_torch_track {
    pt_i64 pid, tid;
};

/* {"ph":"i","cat":"kernel","name":"...","pid":0,"tid":7,"ts":0.000 */
char *pt_torch_begin(struct pt_torch_file *file, char phase, const char *category, const char *name,
                     struct pt_torch_track track, pt_i64 at_ns);
void pt_torch_end(struct pt_torch_file *file, char *at);

/* The same for a slice, up to ,"dur":1.000,"args":{ */
char *pt_torch_slice_begin(struct pt_torch_file *file, const char *category, const char *name,
                           struct pt_torch_track track, pt_i64 start_ns, pt_i64 end_ns);
char *pt_torch_arg(char *at, const char *key, pt_i64 value);
void pt_torch_slice_end(struct pt_torch_file *file, char *at);
/* A slice without args. */
void pt_torch_slice(struct pt_torch_file *file, const char *category, const char *name, struct pt_torch_track track,
                    pt_i64 start_ns, pt_i64 end_ns);

/* One end of the arrow from a call to its work. */
void pt_torch_flow(struct pt_torch_file *file, char phase, pt_u32 correlation, struct pt_torch_track track,
                   pt_i64 at_ns);

/* A process or one of its devices: both have the process's name and differ in the label. */
void pt_torch_name_process(struct pt_torch_file *file, pt_i64 pid, const char *label, pt_i64 sort_index);
void pt_torch_name_thread(struct pt_torch_file *file, struct pt_torch_track track, const char *name);

#define PT_TORCH_STEP_BYTES 40
const char *pt_torch_step_name(char text[PT_TORCH_STEP_BYTES], pt_u64 number);
/* `name`: a string id, or PT_TORCH_PHASE and the phase. Phases have the names that PyTorch's profiler gives them. */
#define PT_TORCH_PHASE (1u << 31)
const char *pt_torch_range_name(const struct pt_torch_file *file, pt_u32 name);

/* Cut an event to the window; false when nothing of it lies there, or when it is too short. */
bool pt_torch_clip(const struct pt_torch_file *file, const struct pt_event *event, pt_i64 *start_ns, pt_i64 *end_ns);

#endif
