/* SPDX-License-Identifier: MIT
 *
 * torch/cpu.c - what PyTorch's profiler would not have known of a training on CPUs, in its form.
 *
 * Owns nothing. One thread. Never: shows more samples of a file than MOST_SLICES.
 */
#include "cpu.h"

#include <stdio.h>
#include <string.h>

#include "proftrace/events.h"
#include "export/stacks/cpu_slices.h"
#include "facts/wait_kind.h"
#include "facts/workers.h"
#include "line.h"

enum { MOST_SLICES = 200000, SHORTEST_WAIT_NS = 100000 };
#define SAMPLE_TIDS (1u << 23) /* tracks for samples, above those of threads and of ranges */

/* TensorBoard and HTA know the time for data by this name. */
static const char waits_for_data[] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";

static bool has_torch(const struct pt_process *process)
{
    for (pt_u32 i = 0; i < process->n_modules; i++)
        if (process->modules[i].path && strstr(process->modules[i].path, "libtorch"))
            return true;
    return false;
}

static bool has_marks(const struct pt_process *process)
{
    static const int marks[] = {PT_KIND_range_begin, PT_KIND_range_open, PT_KIND_step};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (pt_totals_of(process->totals, marks[i])->calls)
            return true;
    return false;
}

bool pt_torch_is_training(const struct pt_process *process)
{
    return !pt_is_worker(process) && (has_torch(process) || has_marks(process));
}

bool pt_torch_wait_event(struct pt_torch_file *file, const struct pt_event *event)
{
    pt_i64 start_ns, end_ns;
    if (pt_totals_of(file->process->totals, PT_KIND_phase_begin)->calls) /* which say it themselves */
        return false;
    if (event->desc->role != PT_ROLE_SPAN || !pt_is_main_thread(event) || event->duration_ns < SHORTEST_WAIT_NS ||
        pt_time_part_of_event(event) != PT_PART_data_wait || !pt_torch_clip(file, event, &start_ns, &end_ns))
        return false;
    pt_torch_slice(file, "user_annotation", waits_for_data,
                   (struct pt_torch_track){file->process->pid, event->thread->tid}, start_ns, end_ns);
    return true;
}

/* ---- samples ---- */

struct shown {
    struct pt_session *session;
    struct pt_torch_file *files;
    struct pt_cpu_slices slices; /* of one thread */
};

/* Whose samples of a thread are, and for how long nobody else can have the thread. */
struct holder {
    struct pt_torch_file *file; /* NULL = of a process that has none open */
    pt_i64 until_ns;
};

/* A pid may have had several images (sh, then python3 by exec), and samples come before the library of the new one has
 * said that it is there: they belong to the nearest image within the slack where no image was there at that time. */
static struct holder holder_at(const struct shown *shown, pt_u32 pid, pt_i64 at_ns)
{
    const pt_i64 slack_ns = 20000000;
    struct holder found = {NULL, INT64_MAX};
    for (pt_u32 i = 0; i < shown->session->n_processes; i++) {
        const struct pt_process *process = shown->session->processes[i];
        struct pt_torch_file *file = shown->files[i].sink ? &shown->files[i] : NULL;
        if (process->pid != pid || process->is_elsewhere)
            continue;
        if (at_ns >= process->start_ns && at_ns <= process->end_ns)
            return (struct holder){file, process->end_ns};
        if (at_ns >= process->start_ns - slack_ns && at_ns <= process->end_ns + slack_ns)
            found = (struct holder){file ? file : found.file, at_ns};
        else if (process->start_ns > at_ns && process->start_ns - slack_ns <= found.until_ns)
            found.until_ns = process->start_ns - slack_ns - 1;
    }
    return found;
}

static void show_thread(struct shown *shown, const struct pt_cpu_samples *all, struct pt_torch_file *file,
                        const struct pt_cpu_thread *thread)
{
    const struct pt_torch_track track = {thread->pid, SAMPLE_TIDS | thread->tid};
    char name[80];
    snprintf(name, sizeof name, "%.40s %u (CPU samples)", thread->comm, thread->tid);
    if (file && shown->slices.n)
        pt_torch_name_thread(file, track, name);
    for (size_t i = 0; file && i < shown->slices.n; i++) {
        pt_i64 start_ns = shown->slices.items[i].start_ns, end_ns = shown->slices.items[i].end_ns;
        if (!pt_window_clip(&file->window, &start_ns, &end_ns) || end_ns - start_ns < file->min_duration_ns)
            continue;
        if (file->n_samples++ >= MOST_SLICES)
            file->summary->left_out++;
        else
            pt_torch_slice(file, "cpu_sample", all->view->functions.items[shown->slices.items[i].function].name, track,
                           start_ns < 0 ? 0 : start_ns, end_ns);
    }
    pt_cpu_slices_clear(&shown->slices);
}

static void show_stage(const struct pt_cpu_samples *all)
{
    struct shown *shown = all->context;
    struct holder holder = {0};
    for (size_t i = 0; i < all->n; i++) {
        const struct pt_shown_sample *sample = &all->samples[i];
        const struct pt_cpu_thread *thread = &all->view->data->threads[sample->thread];
        const bool is_other = !i || sample->thread != all->samples[i - 1].thread;
        if (is_other || (pt_i64)sample->t_ns > holder.until_ns) {
            const struct holder next = holder_at(shown, thread->pid, (pt_i64)sample->t_ns);
            if (!is_other && next.file != holder.file)
                show_thread(shown, all, holder.file, thread);
            holder = next;
        }
        if (holder.file)
            pt_cpu_slices_add(&shown->slices, all->view, sample);
        if (i + 1 == all->n || sample->thread != all->samples[i + 1].thread)
            show_thread(shown, all, holder.file, thread);
    }
}

void pt_torch_samples(struct pt_session *session, const struct pt_export_options *options, struct pt_torch_file *files)
{
    struct shown shown = {.session = session, .files = files};
    struct pt_export_summary of_samples = {0};
    struct pt_error err = {0};
    if (session->path) /* reports say why there are none */
        pt_cpu_samples_each(session, options, &shown, show_stage, &of_samples, &err);
    pt_cpu_slices_free(&shown.slices);
}
