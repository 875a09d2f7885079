/* SPDX-License-Identifier: MIT
 *
 * timeline/cpu.c - CPU samples as slices beside the calls of their thread, and the threads' names.
 *
 * Owns nothing. One thread. Never: shows more than MOST_SLICES.
 */
#include "cpu.h"

#include <stdlib.h>

#include "export/stacks/cpu_slices.h"
#include "lanes.h"
#include "processes.h"
#include "show.h"

enum { MOST_SLICES = 300000 };

struct shown {
    struct pt_timeline *timeline;
    pt_u32 n_slices;
    struct pt_cpu_slices slices; /* of one thread */
};

static struct pt_timeline_lane *lane_within(struct pt_timeline *timeline, const struct pt_cpu_thread *thread,
                                            pt_i64 at_ns, pt_i64 slack_ns)
{
    for (pt_u32 i = pt_timeline_first_of_pid(timeline, thread->pid, INT64_MIN); i < timeline->n_processes; i++) {
        struct pt_timeline_process *process = &timeline->processes[timeline->by_pid[i]];
        if (process->process->pid != thread->pid)
            break;
        if (!process->is_shown || process->process->is_elsewhere || at_ns < process->start_ns - slack_ns ||
            at_ns > process->end_ns + slack_ns)
            continue;
        for (pt_u32 j = 0; j < process->process->n_threads; j++)
            if (process->process->threads[j].tid == thread->tid)
                return pt_timeline_lane_at(process, j);
    }
    return NULL;
}

/* The process that had the thread then: a pid may have had several images, and what it does at its very end is not
 * recorded any more. */
static struct pt_timeline_lane *lane_of(struct pt_timeline *timeline, const struct pt_cpu_thread *thread, pt_i64 at_ns)
{
    const pt_i64 slack_ns = 20000000;
    struct pt_timeline_lane *lane = lane_within(timeline, thread, at_ns, 0);
    return lane ? lane : lane_within(timeline, thread, at_ns, slack_ns);
}

static void show_thread(struct shown *shown, const struct pt_cpu_view *view, struct pt_timeline_lane *lane)
{
    struct pt_timeline *timeline = shown->timeline;
    for (size_t i = 0; i < shown->slices.n; i++) {
        const struct pt_cpu_slice *one = &shown->slices.items[i];
        pt_i64 start_ns = one->start_ns, end_ns = one->end_ns;
        start_ns = start_ns < lane->process->from_ns ? lane->process->from_ns : start_ns;
        end_ns = end_ns > lane->process->until_ns ? lane->process->until_ns : end_ns;
        if (start_ns >= end_ns || end_ns - start_ns < timeline->min_duration_ns)
            continue;
        if (shown->n_slices++ >= MOST_SLICES) {
            timeline->summary->left_out++;
            continue;
        }
        pt_timeline_show(timeline, &(struct pt_timeline_slice){.track = pt_timeline_lane_samples(lane),
                                                               .start_ns = start_ns,
                                                               .end_ns = end_ns,
                                                               .category = "cpu",
                                                               .name = view->functions.items[one->function].name});
    }
    pt_cpu_slices_clear(&shown->slices);
}

static void show_stage(const struct pt_cpu_samples *all)
{
    struct shown *shown = all->context;
    const struct pt_cpu_data *data = all->view->data;
    struct pt_timeline_lane *lane = NULL;
    for (size_t i = 0; i < all->n; i++) {
        const struct pt_shown_sample *sample = &all->samples[i];
        const bool is_other = !i || sample->thread != all->samples[i - 1].thread;
        if (!is_other && lane && (pt_i64)sample->t_ns <= lane->process->end_ns) {
            pt_cpu_slices_add(&shown->slices, all->view, sample);
            continue;
        }
        if (lane)
            show_thread(shown, all->view, lane);
        lane = lane_of(shown->timeline, &data->threads[sample->thread], (pt_i64)sample->t_ns);
        if (lane)
            pt_cpu_slices_add(&shown->slices, all->view, sample);
    }
    if (lane)
        show_thread(shown, all->view, lane);
}

static void note_name(void *context, const struct pt_cpu_thread *thread, pt_i64 start_ns)
{
    struct pt_timeline *timeline = context;
    if (*thread->comm)
        pt_vec_push(&timeline->thread_names,
                    ((struct pt_timeline_thread_name){thread->pid, thread->tid, start_ns,
                                                      pt_intern_text(&timeline->texts, thread->comm)}));
}

static int by_thread(const void *a, const void *b)
{
    const struct pt_timeline_thread_name *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

void pt_timeline_cpu_names(struct pt_timeline *timeline, const struct pt_export_options *options)
{
    if (timeline->session->path)
        pt_cpu_threads_each(timeline->session, options, timeline, note_name);
    if (timeline->thread_names.n)
        qsort(timeline->thread_names.items, timeline->thread_names.n, sizeof *timeline->thread_names.items, by_thread);
}

void pt_timeline_cpu(struct pt_timeline *timeline, const struct pt_export_options *options)
{
    struct shown shown = {.timeline = timeline};
    struct pt_export_summary of_samples = {0}; /* counts samples, not slices */
    struct pt_export_options on_cpu = *options;
    struct pt_error err = {0};
    on_cpu.off_cpu = false;
    if (timeline->session->path) /* reports say why there are none */
        pt_cpu_samples_each(timeline->session, &on_cpu, &shown, show_stage, &of_samples, &err);
    pt_cpu_slices_free(&shown.slices);
}
