/* SPDX-License-Identifier: MIT
 *
 * torch/file.c - the trace of one process as PyTorch's profiler would have written it: CUDA calls, what the GPU did,
 * and the program's steps and ranges.
 *
 * Owns: the file, what is open on each thread. One thread. Never: shows what PyTorch's profiler has no category for
 * (files, locks, memory): that is in the other timelines. */
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "decode/phase_names.h"
#include "export/out/put.h"
#include "export/timeline/gpu_names.h"
#include "model/holes.h"
#include "util/auto.h"
#include "util/mem.h"
#include "cpu.h"
#include "gpu.h"
#include "line.h"
#include "projection.h"

#define OPEN_LIMIT 100000u    /* a program that never ends its ranges */
#define RANGE_TIDS (1u << 22) /* tracks for ranges that may overlap: the kernel gives out no thread id above this */

/* In the folder, or its path. */
static char *name_of(const struct pt_torch_file *file, const struct pt_out_place *folder)
{
    return pt_asprintf("%s%srank%u.%u.pt.trace.json.gz", folder->name, *folder->name ? "/" : "", file->rank,
                       file->process->pid);
}

int pt_torch_open(struct pt_torch_file *file, const struct pt_out_place *folder, bool is_of_many, pt_u64 max_bytes,
                  struct pt_error *err)
{
    const struct pt_session *session = file->process->session;
    const struct pt_out_place shown = {.name = folder->shown};
    PT_AUTO(pt_freep) char *name = name_of(file, folder);
    file->path = name_of(file, &shown);
    file->threads = pt_calloc(file->process->n_threads ? file->process->n_threads : 1, sizeof *file->threads);
    file->sink = pt_sink_open(&(struct pt_out_place){folder->folder_fd, name, file->path},
                              is_of_many ? PT_SINK_OF_MANY : PT_SINK_PACKED, max_bytes, err);
    if (!file->sink)
        return -1;
    char *at = pt_put(pt_sink_room(file->sink), "{\"schemaVersion\":1,\n\"distributedInfo\":{\"rank\": ");
    at = pt_put_u64(at, file->rank); /* HTA looks for the space before it */
    at = pt_put_u64(pt_put(at, ", \"world_size\": "), file->world_size);
    at = pt_put_u64(pt_put(at, "},\n\"displayTimeUnit\":\"ms\",\"baseTimeNanoseconds\":"), session->start_realtime_ns);
    pt_sink_wrote(file->sink, pt_put(at, ",\n\"traceEvents\":["));
    pt_torch_name_process(file, file->process->pid, "CPU", file->process->pid);
    file->summary->processes++;
    return 0;
}

static void name_thread(struct pt_torch_file *file, const struct pt_thread *thread)
{
    struct pt_torch_thread *known = &file->threads[thread->index];
    char name[40];
    if (known->is_named)
        return;
    known->is_named = true;
    snprintf(name, sizeof name, "thread %u", thread->tid);
    pt_torch_name_thread(file, (struct pt_torch_track){file->process->pid, thread->tid}, name);
}

/* ---- calls ---- */

/* The function's name as CUPTI or a wrapper recorded it. */
static const char *call_name(const struct pt_torch_file *file, const struct pt_event *event)
{
    const pt_u32 id = event->desc->id == PT_EV_cuda_call       ? pt_event_as(event, cuda_call)->name
                      : event->desc->id == PT_EV_cuda_transfer ? pt_event_as(event, cuda_transfer)->name
                                                               : 0;
    const char *name = id ? pt_process_string(file->process, id) : NULL;
    if (name && *name)
        return name;
    return event->desc->id == PT_EV_cuda_launch ? "cudaLaunchKernel" : "CUDA call";
}

/* The runtime's functions are called cuda..., the driver's cu...: HTA knows their names. */
static bool is_of_driver(const char *name)
{
    return strncmp(name, "cuda", 4) != 0 && !strncmp(name, "cu", 2);
}

static void show_call(struct pt_torch_file *file, const struct pt_event *event)
{
    const pt_u32 correlation = event->desc->id == PT_EV_cuda_call ? pt_event_as(event, cuda_call)->correlation : 0;
    const struct pt_torch_track track = {file->process->pid, event->thread->tid};
    pt_i64 start_ns, end_ns;
    if (!pt_torch_clip(file, event, &start_ns, &end_ns))
        return;
    name_thread(file, event->thread);
    const char *name = call_name(file, event), *category = is_of_driver(name) ? "cuda_driver" : "cuda_runtime";
    char *at = pt_torch_slice_begin(file, category, name, track, start_ns, end_ns);
    if (correlation)
        at = pt_torch_arg(at, "correlation", correlation);
    if (event->result < 0)
        at = pt_torch_arg(at, "error", -(pt_i64)event->result);
    if (event->desc->id == PT_EV_cuda_launch)
        at = pt_put_string(pt_put(at, at[-1] == '{' ? "\"kernel\":" : ",\"kernel\":"),
                           pt_gpu_kernel_name(&file->kernels, file->process, pt_event_as(event, cuda_launch)->name));
    pt_torch_slice_end(file, at);
    if (pt_gpu_is_launch(event))
        pt_torch_flow(file, 's', correlation, track, start_ns);
}

/* ---- steps and ranges ---- */

static void show_annotation(struct pt_torch_file *file, const char *name, pt_u32 tid, pt_i64 start_ns, pt_i64 end_ns)
{
    /* Ranges that a library makes by itself are what PyTorch's profiler calls operators. */
    const char *category = file->is_on_cpu && !strncmp(name, "dnnl::", 6) ? "cpu_op" : "user_annotation";
    end_ns = end_ns < start_ns ? start_ns : end_ns;
    if (pt_window_clip(&file->window, &start_ns, &end_ns))
        pt_torch_slice(file, category, name, (struct pt_torch_track){file->process->pid, tid}, start_ns, end_ns);
}

static void show_range(struct pt_torch_file *file, const struct pt_torch_open *range, pt_u32 tid, pt_i64 end_ns)
{
    show_annotation(file, pt_torch_range_name(file, range->name), tid, range->start_ns, end_ns);
    if (range->projected)
        pt_torch_project_end(file, range->projected);
}

static void end_step(struct pt_torch_file *file, struct pt_torch_thread *thread, pt_i64 end_ns)
{
    char name[PT_TORCH_STEP_BYTES];
    if (!thread->has_step)
        return;
    thread->has_step = false;
    show_annotation(file, pt_torch_step_name(name, thread->step.id), thread->step.tid, thread->step.start_ns, end_ns);
    pt_torch_project_end(file, thread->step.projected);
}

/* The first track that no open range is on. */
static pt_u32 free_track(const struct pt_torch_file *file)
{
    for (pt_u32 tid = RANGE_TIDS + 1;; tid++) {
        bool is_free = true;
        for (size_t i = 0; i < file->ranges.n && is_free; i++)
            is_free = file->ranges.items[i].tid != tid;
        if (is_free)
            return tid;
    }
}

static void open_range(struct pt_torch_file *file, const struct pt_event *event)
{
    if (file->ranges.n >= OPEN_LIMIT / 100) { /* a track each */
        file->summary->left_out++;
        return;
    }
    const struct pt_torch_open range = {.id = pt_event_as(event, range_open)->id,
                                        .name = event->aux,
                                        .tid = free_track(file),
                                        .start_ns = event->start_ns};
    pt_vec_push(&file->ranges, range);
}

static void close_loose_range(struct pt_torch_file *file, const struct pt_event *event)
{
    const pt_u64 id = pt_event_as(event, range_close)->id;
    for (size_t i = file->ranges.n; i > 0; i--) {
        struct pt_torch_open *range = &file->ranges.items[i - 1];
        if (range->id != id)
            continue;
        show_range(file, range, range->tid, event->start_ns);
        memmove(range, range + 1, (file->ranges.n - i) * sizeof *range);
        file->ranges.n--;
        return;
    }
    file->summary->left_out++;
}

static void begin_range(struct pt_torch_thread *thread, struct pt_torch_open range, pt_u32 name)
{
    const size_t n = thread->ranges.n;
    if (n >= OPEN_LIMIT) {
        thread->ranges_left_out++;
        return;
    }
    range.name = name;
    range.projected = pt_torch_project_range(n ? thread->ranges.items[n - 1].projected : NULL, name);
    pt_vec_push(&thread->ranges, range);
}

static void end_range(struct pt_torch_file *file, struct pt_torch_thread *thread, const struct pt_event *event)
{
    if (thread->ranges_left_out)
        thread->ranges_left_out--;
    else if (thread->ranges.n)
        show_range(file, &thread->ranges.items[--thread->ranges.n], event->thread->tid, event->start_ns);
}

static void begin_step(struct pt_torch_file *file, struct pt_torch_thread *thread, const struct pt_event *event,
                       pt_u64 number)
{
    end_step(file, thread, event->start_ns);
    file->step = pt_torch_project_step(number);
    thread->step = (struct pt_torch_open){
        .id = number, .tid = event->thread->tid, .start_ns = event->start_ns, .projected = file->step};
    thread->has_step = true;
}

/* ---- phases: where the program marks no steps, each step of its first optimizer ends one ---- */

static bool makes_steps(const struct pt_torch_file *file)
{
    return !pt_totals_of(file->process->totals, PT_KIND_step)->calls &&
           pt_totals_of(file->process->totals, PT_KIND_phase_end)->calls;
}

static void begin_phase(struct pt_torch_file *file, struct pt_torch_thread *thread, const struct pt_event *event)
{
    const enum pt_phase phase = pt_phase_of_tag(event->tag);
    const pt_u64 object = pt_event_as(event, phase_begin)->object;
    const bool is_step = phase == PT_PHASE_data_wait || phase == PT_PHASE_forward || phase == PT_PHASE_zero_grad;
    if (is_step && !thread->has_step && makes_steps(file))
        begin_step(file, thread, event, file->phase_steps++);
    if (phase == PT_PHASE_optimizer_step && !file->optimizer)
        file->optimizer = object;
    begin_range(thread, (struct pt_torch_open){.id = object, .tid = event->thread->tid, .start_ns = event->start_ns},
                PT_TORCH_PHASE | phase);
}

static void end_phase(struct pt_torch_file *file, struct pt_torch_thread *thread, const struct pt_event *event)
{
    const struct pt_torch_open *open = thread->ranges.n ? &thread->ranges.items[thread->ranges.n - 1] : NULL;
    const bool is_step = open && open->name == (PT_TORCH_PHASE | PT_PHASE_optimizer_step) &&
                         open->id == file->optimizer && !thread->ranges_left_out;
    end_range(file, thread, event);
    if (is_step && makes_steps(file))
        end_step(file, thread, event->start_ns);
}

static void end_open(struct pt_torch_file *file, struct pt_torch_thread *open, pt_u32 tid, pt_i64 end_ns)
{
    while (open->ranges.n)
        show_range(file, &open->ranges.items[--open->ranges.n], tid, end_ns);
    open->ranges_left_out = 0;
    if (open->has_step && makes_steps(file)) { /* what follows the last step is none */
        open->has_step = false;
        pt_torch_project_end(file, open->step.projected);
    }
    end_step(file, open, end_ns);
}

static void user_event(struct pt_torch_file *file, const struct pt_event *event)
{
    struct pt_torch_thread *thread = &file->threads[event->thread->index];
    const struct pt_hole *hole;
    while ((hole = pt_thread_next_hole(event->thread, event->start_ns, &thread->holes)))
        end_open(file, thread, event->thread->tid, hole->from_ns);
    const struct pt_torch_open range = {.tid = event->thread->tid, .start_ns = event->start_ns};
    name_thread(file, event->thread);
    switch (event->desc->id) {
    case PT_EV_step:
        begin_step(file, thread, event, event->words[0]);
        break;
    case PT_EV_range_begin:
        begin_range(thread, range, pt_event_as(event, range_begin)->name);
        break;
    case PT_EV_phase_begin:
        begin_phase(file, thread, event);
        break;
    case PT_EV_phase_end:
        end_phase(file, thread, event);
        break;
    case PT_EV_range_end:
        end_range(file, thread, event);
        break;
    case PT_EV_range_open:
        open_range(file, event);
        break;
    case PT_EV_range_close:
        close_loose_range(file, event);
        break;
    default:
        break;
    }
}

void pt_torch_event(struct pt_torch_file *file, const struct pt_event *event)
{
    if (event->desc->category == PT_CATEGORY_GPU)
        pt_torch_gpu_event(file, event);
    else if (event->desc->category == PT_CATEGORY_CUDA) {
        show_call(file, event);
        if (pt_gpu_is_launch(event))
            pt_torch_project_call(file, event);
    } else if (event->desc->category == PT_CATEGORY_USER)
        user_event(file, event);
    else if (file->is_on_cpu && pt_torch_wait_event(file, event))
        name_thread(file, event->thread);
}

/* ---- the end ---- */

static void finish_threads(struct pt_torch_file *file)
{
    for (pt_u32 i = 0; i < file->process->n_threads; i++) {
        const struct pt_thread *thread = &file->process->threads[i];
        end_open(file, &file->threads[i], thread->tid, thread->end_ns);
    }
    while (file->ranges.n) {
        const struct pt_torch_open *range = &file->ranges.items[--file->ranges.n];
        show_range(file, range, range->tid, file->process->end_ns);
    }
    pt_torch_project_finish(file);
}

int pt_torch_close(struct pt_torch_file *file, struct pt_sink_files *files, struct pt_sink_result *ret_result,
                   struct pt_error *err)
{
    finish_threads(file);
    const pt_i64 end_ns = file->process->end_ns < file->window.until_ns ? file->process->end_ns : file->window.until_ns;
    char *at = pt_put(pt_sink_room(file->sink), file->has_lines ? ",\n" : "\n");
    at = pt_put(at, "{\"ph\":\"i\",\"name\":\"Record Window End\",\"s\":\"g\",\"pid\":\"\",\"tid\":\"\",\"ts\":");
    pt_sink_wrote(file->sink, pt_put(pt_put_us(at, end_ns), "}\n]"));
    pt_torch_put_devices(file);
    at = pt_put_string(pt_put(pt_sink_room(file->sink), ",\n\"traceName\":"), file->path);
    pt_sink_wrote(file->sink, pt_put(at, "}\n"));
    struct pt_sink *sink = file->sink;
    file->sink = NULL;
    return pt_sink_close_unnamed(sink, files, ret_result, err);
}

static void free_thread(struct pt_torch_file *file, struct pt_torch_thread *thread)
{
    while (thread->ranges.n)
        pt_torch_project_end(file, thread->ranges.items[--thread->ranges.n].projected);
    if (thread->has_step)
        pt_torch_project_end(file, thread->step.projected);
    free(thread->ranges.items);
}

void pt_torch_free(struct pt_torch_file *file)
{
    if (file->sink)
        pt_sink_abandon(file->sink);
    file->sink = NULL;
    for (pt_u32 i = 0; file->threads && i < file->process->n_threads; i++)
        free_thread(file, &file->threads[i]);
    pt_torch_project_finish(file);
    pt_gpu_kernel_names_free(&file->kernels);
    pt_map_fini(&file->device_at);
    pt_map_fini(&file->streams);
    free(file->threads);
    free(file->recorded);
    free(file->ranges.items);
    free(file->devices.items);
    free(file->path);
    *file = (struct pt_torch_file){0};
}
