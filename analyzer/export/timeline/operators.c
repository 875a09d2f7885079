/* SPDX-License-Identifier: MIT
 *
 * timeline/operators.c - the spans of profiler windows as slices on a track beside their thread.
 *
 * Owns nothing. One thread. Never: shows more than MOST_SLICES, or what a GPU did, which proftrace saw itself outside
 * of windows.
 */
#include "operators.h"

#include <math.h>
#include <stdlib.h>

#include "profile/window_process.h"
#include "util/vec.h"
#include "lanes.h"
#include "show.h"

enum { MOST_SLICES = 2000000 };

struct shown {
    struct pt_timeline *timeline;
    pt_u32 n_slices;
    struct {
        PT_VEC(pt_i64);
    } ends_ns; /* of those that enclose the next one, of one thread */
};

static struct pt_timeline_lane *lane_of(struct pt_timeline_process *process, pt_u64 tid)
{
    for (pt_u32 i = 0; i < process->process->n_threads; i++)
        if (process->process->threads[i].tid == tid)
            return pt_timeline_lane_at(process, i);
    return NULL;
}

/* Its end, no later than that of the one that it lies in: PyTorch rounds start and length apart. */
static pt_i64 nested_end_ns(struct shown *shown, pt_i64 start_ns, pt_i64 end_ns)
{
    while (shown->ends_ns.n && shown->ends_ns.items[shown->ends_ns.n - 1] <= start_ns)
        shown->ends_ns.n--;
    if (shown->ends_ns.n && shown->ends_ns.items[shown->ends_ns.n - 1] < end_ns)
        end_ns = shown->ends_ns.items[shown->ends_ns.n - 1];
    pt_vec_push(&shown->ends_ns, end_ns);
    return end_ns;
}

static void show_span(struct shown *shown, struct pt_timeline_lane *lane, const struct pt_torch_span *span,
                      pt_i64 shift_ns)
{
    struct pt_timeline *timeline = shown->timeline;
    pt_i64 start_ns = span->start_ns + shift_ns, end_ns = nested_end_ns(shown, start_ns, start_ns + span->took_ns);
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
    shown->ends_ns.n = 0;
    (void)file, (void)problem; /* reports say what could not be read */
    const struct pt_process *process = window ? pt_window_process(timeline->session, window, &shift_ns) : NULL;
    if (!process || !timeline->processes[process->index].is_shown)
        return;
    pt_vec_each(span, &window->spans)
    {
        if (span->kind == PT_TORCH_KERNEL)
            continue;
        if (span->thread != thread) {
            lane = lane_of(&timeline->processes[process->index], window->threads.items[thread = span->thread]);
            shown->ends_ns.n = 0;
        }
        if (lane)
            show_span(shown, lane, span, shift_ns);
    }
}

void pt_timeline_operators(struct pt_timeline *timeline)
{
    struct shown shown = {.timeline = timeline};
    if (timeline->session->path)
        pt_torch_windows_each(timeline->session->path, show_window, &shown);
    free(shown.ends_ns.items);
}
