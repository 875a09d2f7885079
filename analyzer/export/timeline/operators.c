/* SPDX-License-Identifier: MIT
 *
 * timeline/operators.c - the spans of profiler windows as slices on a track beside their thread.
 *
 * Owns nothing. One thread. Never: shows more than MOST_SLICES, or what a GPU did, which proftrace saw itself outside
 * of windows.
 */
#include "operators.h"

#include <math.h>

#include "profile/window_process.h"
#include "lanes.h"
#include "show.h"

enum { MOST_SLICES = 2000000 };

struct shown {
    struct pt_timeline *timeline;
    pt_u32 n_slices;
};

static struct pt_timeline_lane *lane_of(struct pt_timeline_process *process, pt_u64 tid)
{
    for (pt_u32 i = 0; i < process->process->n_threads; i++)
        if (process->process->threads[i].tid == tid)
            return pt_timeline_lane_at(process, i);
    return NULL;
}

static void show_span(struct shown *shown, struct pt_timeline_lane *lane, const struct pt_torch_span *span,
                      pt_i64 shift_ns)
{
    struct pt_timeline *timeline = shown->timeline;
    pt_i64 start_ns = span->start_ns + shift_ns, end_ns = start_ns + span->took_ns;
    start_ns = start_ns < lane->process->from_ns ? lane->process->from_ns : start_ns;
    end_ns = end_ns > lane->process->until_ns ? lane->process->until_ns : end_ns;
    if (start_ns > end_ns || end_ns - start_ns < timeline->min_duration_ns)
        return;
    if (shown->n_slices++ >= MOST_SLICES) {
        timeline->summary->left_out++;
        return;
    }
    struct pt_timeline_arg args[2];
    pt_u32 n = 0;
    if (*span->shapes)
        args[n++] = (struct pt_timeline_arg){.key = "shapes", .text = span->shapes};
    if (span->flops >= 0 && span->flops < 9e18)
        args[n++] = (struct pt_timeline_arg){.key = "flops", .number = (pt_i64)span->flops};
    pt_timeline_show(timeline, &(struct pt_timeline_slice){
                                   .track = pt_timeline_lane_operators(lane),
                                   .start_ns = start_ns,
                                   .end_ns = end_ns,
                                   .category = span->kind == PT_TORCH_OPERATOR ? "cpu_op" : "user_annotation",
                                   .name = span->name,
                                   .args = args,
                                   .n_args = n});
}

static void show_window(void *context, const struct pt_torch_window *window, const char *file,
                        const struct pt_error *problem)
{
    struct shown *shown = context;
    struct pt_timeline *timeline = shown->timeline;
    const struct pt_torch_span *span;
    struct pt_timeline_lane *lane = NULL;
    pt_i64 shift_ns;
    pt_u32 thread = UINT32_MAX;
    (void)file, (void)problem; /* reports say what could not be read */
    const struct pt_process *process = window ? pt_window_process(timeline->session, window, &shift_ns) : NULL;
    if (!process || !timeline->processes[process->index].is_shown)
        return;
    pt_vec_each(span, &window->spans)
    {
        if (span->kind == PT_TORCH_KERNEL)
            continue;
        if (span->thread != thread)
            lane = lane_of(&timeline->processes[process->index], window->threads.items[thread = span->thread]);
        if (lane)
            show_span(shown, lane, span, shift_ns);
    }
}

void pt_timeline_operators(struct pt_timeline *timeline)
{
    struct shown shown = {.timeline = timeline};
    if (timeline->session->path)
        pt_torch_windows_each(timeline->session->path, show_window, &shown);
}
