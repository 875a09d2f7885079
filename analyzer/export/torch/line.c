/* SPDX-License-Identifier: MIT
 *
 * torch/line.c - lines of a PyTorch-profiler trace. Owns: the counts of what was written. One thread. Never: writes
 * what is not JSON. */
#include "line.h"

#include <stdio.h>

#include "decode/phase_names.h"
#include "export/out/put.h"

char *pt_torch_begin(struct pt_torch_file *file, char phase, const char *category, const char *name,
                     struct pt_torch_track track, pt_i64 at_ns)
{
    char *at = pt_sink_room(file->sink);
    at = pt_put(at, file->has_lines ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    file->has_lines = true;
    *at++ = phase;
    if (category)
        at = pt_put(pt_put(at, "\",\"cat\":\""), category);
    at = pt_put_string(pt_put(at, "\",\"name\":"), name);
    at = pt_put_i64(pt_put(at, ",\"pid\":"), track.pid);
    at = pt_put_i64(pt_put(at, ",\"tid\":"), track.tid);
    return pt_put_us(pt_put(at, ",\"ts\":"), at_ns);
}

void pt_torch_end(struct pt_torch_file *file, char *at)
{
    *at++ = '}';
    pt_sink_wrote(file->sink, at);
}

/* ---- slices and arrows ---- */

char *pt_torch_slice_begin(struct pt_torch_file *file, const char *category, const char *name,
                           struct pt_torch_track track, pt_i64 start_ns, pt_i64 end_ns)
{
    char *at = pt_torch_begin(file, 'X', category, name, track, start_ns);
    return pt_put(pt_put_us(pt_put(at, ",\"dur\":"), end_ns - start_ns), ",\"args\":{");
}

char *pt_torch_arg(char *at, const char *key, pt_i64 value)
{
    if (at[-1] != '{')
        *at++ = ',';
    *at++ = '"';
    return pt_put_i64(pt_put(pt_put(at, key), "\":"), value);
}

void pt_torch_slice_end(struct pt_torch_file *file, char *at)
{
    pt_torch_end(file, pt_put(at, "}"));
    file->summary->slices++;
}

void pt_torch_slice(struct pt_torch_file *file, const char *category, const char *name, struct pt_torch_track track,
                    pt_i64 start_ns, pt_i64 end_ns)
{
    pt_torch_slice_end(file, pt_torch_slice_begin(file, category, name, track, start_ns, end_ns));
}

void pt_torch_flow(struct pt_torch_file *file, char phase, pt_u32 correlation, struct pt_torch_track track,
                   pt_i64 at_ns)
{
    char *at = pt_torch_begin(file, phase, "ac2g", "ac2g", track, at_ns);
    at = pt_put_u64(pt_put(at, ",\"id\":"), correlation);
    pt_torch_end(file, phase == 'f' ? pt_put(at, ",\"bp\":\"e\"") : at);
    file->summary->flows += phase == 'f';
}

/* ---- names ---- */

static char *name_begin(struct pt_torch_file *file, const char *what, const char *key, struct pt_torch_track track)
{
    char *at = pt_torch_begin(file, 'M', NULL, what, track, 0);
    return pt_put(pt_put(pt_put(at, ",\"args\":{\""), key), "\":");
}

static void name_text(struct pt_torch_file *file, const char *what, const char *key, struct pt_torch_track track,
                      const char *text)
{
    pt_torch_end(file, pt_put(pt_put_string(name_begin(file, what, key, track), text), "}"));
}

static void name_sort_index(struct pt_torch_file *file, const char *what, struct pt_torch_track track, pt_i64 index)
{
    pt_torch_end(file, pt_put(pt_put_i64(name_begin(file, what, "sort_index", track), index), "}"));
}

void pt_torch_name_process(struct pt_torch_file *file, pt_i64 pid, const char *label, pt_i64 sort_index)
{
    const struct pt_torch_track track = {.pid = pid};
    const char *comm = file->process->comm;
    name_text(file, "process_name", "name", track, comm && *comm ? comm : "process");
    name_text(file, "process_labels", "labels", track, label);
    name_sort_index(file, "process_sort_index", track, sort_index);
}

void pt_torch_name_thread(struct pt_torch_file *file, struct pt_torch_track track, const char *name)
{
    name_text(file, "thread_name", "name", track, name);
    name_sort_index(file, "thread_sort_index", track, track.tid);
    file->summary->tracks++;
}

const char *pt_torch_step_name(char text[PT_TORCH_STEP_BYTES], pt_u64 number)
{
    snprintf(text, PT_TORCH_STEP_BYTES, "ProfilerStep#%llu", (unsigned long long)number);
    return text;
}

/* TensorBoard and HTA know the time for data, and that of optimizers, by these names. */
static const char *name_of_phase(enum pt_phase phase)
{
    return phase == PT_PHASE_data_wait        ? "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
           : phase == PT_PHASE_optimizer_step ? "Optimizer.step"
                                              : pt_phase_names[phase];
}

const char *pt_torch_range_name(const struct pt_torch_file *file, pt_u32 name)
{
    if (name & PT_TORCH_PHASE)
        return name_of_phase(pt_phase_of_tag((int)(name & ~PT_TORCH_PHASE)));
    const char *text = pt_process_string(file->process, name);
    return text && *text ? text : "range";
}

bool pt_torch_clip(const struct pt_torch_file *file, const struct pt_event *event, pt_i64 *start_ns, pt_i64 *end_ns)
{
    *start_ns = event->start_ns;
    *end_ns = pt_event_end_ns(event);
    return event->duration_ns >= file->min_duration_ns && pt_window_clip(&file->window, start_ns, end_ns);
}
