/* SPDX-License-Identifier: MIT
 *
 * timeline/threads.c - the events of a thread, each becoming at most one slice, instant or point of a counter.
 *
 * Owns: what is open on each thread (ranges, steps, an exec that has not come back). One thread. Never: holds events.
 */
#include "threads.h"

#include <math.h>
#include <stdio.h>

#include "proftrace/payloads.h"
#include "decode/phase_names.h"
#include "model/holes.h"
#include "gpu.h"
#include "lanes.h"
#include "processes.h"
#include "ranges.h"
#include "show.h"

/* Shorter calls are shown without their path, which halves the file. */
#define STRINGS_FROM_NS 10000

static const struct pt_timeline_arg ended_with_thread = {.key = "closed_by", .text = "end of thread"},
                                    ended_in_hole = {.key = "closed_by", .text = "missing events"};

/* Its beginning can be shown before its end is known: nothing that encloses it begins at the same instant. */
static bool begins_inside(const struct pt_timeline *timeline, const struct pt_timeline_process *process,
                          pt_i64 start_ns)
{
    return start_ns > process->from_ns && start_ns < process->until_ns && pt_window_has(&timeline->window, start_ns);
}

/* ---- calls ---- */

static bool is_worth_strings(const struct pt_event *event)
{
    return event->duration_ns >= STRINGS_FROM_NS || event->desc->category == PT_CATEGORY_PROC ||
           event->desc->id == PT_EV_io_open;
}

/* Which function of CUDA, or which kernel, says more than that it was one. */
static void name_cuda_call(struct pt_timeline_slice *slice, const struct pt_event *event)
{
    if (event->desc->id == PT_EV_cuda_launch && pt_event_as(event, cuda_launch)->name) {
        const pt_u32 kernel = pt_event_as(event, cuda_launch)->name;
        slice->name = pt_timeline_gpu_launch_name(slice->track->process, kernel);
        slice->name_key = 1ull << 62 | (pt_u64)event->process->index << 32 | kernel;
        return;
    }
    const pt_u32 id = event->desc->id == PT_EV_cuda_call       ? pt_event_as(event, cuda_call)->name
                      : event->desc->id == PT_EV_cuda_transfer ? pt_event_as(event, cuda_transfer)->name
                                                               : 0;
    const char *name = id ? pt_process_string(event->process, id) : NULL;
    if (!name || !*name)
        return;
    slice->name = name;
    slice->name_key = (pt_u64)event->process->index << 32 | id;
}

static void show_span(struct pt_timeline *timeline, struct pt_timeline_lane *lane, const struct pt_event *event)
{
    pt_i64 start_ns = event->start_ns, end_ns = pt_event_end_ns(event);
    const bool makes_process = event->desc->id == PT_EV_proc_fork || event->desc->id == PT_EV_proc_spawn;
    if (event->duration_ns < timeline->min_duration_ns && !makes_process)
        return;
    if (!pt_window_clip(&timeline->window, &start_ns, &end_ns))
        return;
    struct pt_timeline_track *track = pt_timeline_lane_place(timeline, lane, &start_ns, &end_ns);
    if (!track)
        return;
    struct pt_timeline_slice slice = {.track = track,
                                      .start_ns = start_ns,
                                      .end_ns = end_ns,
                                      .event = event,
                                      .with_strings = is_worth_strings(event)};
    if (makes_process && event->result > 0)
        slice.arrow_from =
            pt_timeline_link_process(timeline, event->desc->id == PT_EV_proc_fork ? "fork" : "spawn",
                                     &(struct pt_timeline_place){track, start_ns},
                                     pt_timeline_find_child(timeline, lane->process, event->result, event->start_ns));
    if (event->desc->category == PT_CATEGORY_CUDA) {
        name_cuda_call(&slice, event);
        pt_timeline_gpu_call(timeline, &slice);
    }
    pt_timeline_show(timeline, &slice);
}

/* ---- ranges ---- */

/* A range's name, or the phase above the name of what it is of. */
#define NAME_OF_PHASE(phase, name) ((pt_u64)(phase) << 32 | (name))

static pt_u64 range_name(const struct pt_event *event)
{
    if (event->desc->id == PT_EV_phase_begin) /* never without a phase: one that is not known is the last of all */
        return NAME_OF_PHASE(pt_phase_of_tag(event->tag) ? pt_phase_of_tag(event->tag) : PT_N_PHASES, event->aux);
    return pt_event_as(event, range_begin)->name;
}

/* Phases are named by what they are; what they are of would make a name for each module and file. */
static struct pt_timeline_slice range_slice(const struct pt_timeline_lane *lane, pt_u64 name, pt_i64 start_ns)
{
    const pt_u32 phase = (pt_u32)(name >> 32);
    const char *text =
        phase ? pt_phase_names[phase % PT_N_PHASES] : pt_process_string(lane->process->process, (pt_u32)name);
    return (struct pt_timeline_slice){.track = lane->tracks.tracks[0],
                                      .start_ns = start_ns,
                                      .category = phase ? "phase" : "range",
                                      .name = text ? text : "",
                                      .name_key = phase ? 1ull << 61 | phase
                                                        : (pt_u64)lane->process->process->index << 32 | (pt_u32)name};
}

static void begin_range(struct pt_timeline *timeline, struct pt_timeline_lane *lane, const struct pt_event *event)
{
    struct pt_nesting *nesting = &pt_timeline_thread_track(lane)->nesting;
    pt_nesting_range_begin(nesting, event->start_ns, range_name(event));
    const struct pt_nesting_range *range = &nesting->ranges[nesting->n_ranges - 1];
    if (begins_inside(timeline, lane->process, range->start_ns)) {
        const struct pt_timeline_slice slice = range_slice(lane, range->name, range->start_ns);
        pt_timeline_show_opened(timeline, &slice);
    }
}

static void end_range(struct pt_timeline *timeline, struct pt_timeline_lane *lane, pt_i64 at_ns,
                      const struct pt_timeline_arg *arg)
{
    struct pt_nesting_range range;
    pt_i64 end_ns = at_ns;
    if (!pt_nesting_range_end(&pt_timeline_thread_track(lane)->nesting, &end_ns, &range)) {
        timeline->summary->left_out++;
        return;
    }
    /* The nesting of what is shown has moved both its ends to the beginning. */
    if (at_ns < timeline->window.from_ns)
        return;
    struct pt_timeline_slice slice = range_slice(lane, range.name, range.start_ns);
    const char *of = range.name >> 32 ? pt_process_string(lane->process->process, (pt_u32)range.name) : NULL;
    const struct pt_timeline_arg of_phase = {.key = "of", .text = of};
    arg = !arg && of && *of ? &of_phase : arg;
    slice.was_opened = begins_inside(timeline, lane->process, range.start_ns);
    if (!pt_window_clip(&timeline->window, &slice.start_ns, &end_ns))
        return;
    slice.end_ns = end_ns;
    slice.args = arg;
    slice.n_args = arg != NULL;
    pt_timeline_show(timeline, &slice);
}

/* A step (an epoch) lasts until the next one of its thread, a step also no longer than its epoch. They have a track of
 * their own: the program's ranges need not respect them. */
static struct pt_timeline_slice period_slice(const struct pt_timeline *timeline, const struct pt_timeline_lane *lane,
                                             const struct pt_timeline_period *period, char *name, size_t room)
{
    snprintf(name, room, "%s %llu", period == &lane->epoch ? "epoch" : "step", (unsigned long long)period->number);
    return (struct pt_timeline_slice){.track = lane->steps,
                                      .start_ns = period->start_ns,
                                      .category = "step",
                                      .name = name,
                                      .was_opened = begins_inside(timeline, lane->process, period->start_ns)};
}

static void end_period(struct pt_timeline *timeline, struct pt_timeline_lane *lane, struct pt_timeline_period *period,
                       pt_i64 at_ns, const struct pt_timeline_arg *arg)
{
    char name[40];
    if (!period->is_open)
        return;
    period->is_open = false;
    struct pt_timeline_slice slice = period_slice(timeline, lane, period, name, sizeof name);
    slice.end_ns = at_ns < slice.start_ns ? slice.start_ns : at_ns;
    slice.args = arg;
    slice.n_args = arg != NULL;
    if (pt_window_clip(&timeline->window, &slice.start_ns, &slice.end_ns))
        pt_timeline_show(timeline, &slice);
}

static void begin_period(struct pt_timeline *timeline, struct pt_timeline_lane *lane, const struct pt_event *event)
{
    char name[40];
    struct pt_timeline_period *period = event->desc->id == PT_EV_epoch ? &lane->epoch : &lane->step;
    end_period(timeline, lane, &lane->step, event->start_ns, NULL);
    if (period == &lane->epoch)
        end_period(timeline, lane, &lane->epoch, event->start_ns, NULL);
    *period = (struct pt_timeline_period){.is_open = true, .number = event->words[0], .start_ns = event->start_ns};
    const struct pt_timeline_slice slice = period_slice(timeline, lane, period, name, sizeof name);
    if (slice.was_opened)
        pt_timeline_show_opened(timeline, &slice);
}

/* ---- instants and counters ---- */

static void show_instant(struct pt_timeline *timeline, struct pt_timeline_lane *lane, const struct pt_event *event)
{
    if (!pt_window_has(&timeline->window, event->start_ns))
        return;
    struct pt_timeline_slice slice = {.track = pt_timeline_thread_track(lane),
                                      .start_ns = event->start_ns,
                                      .end_ns = event->start_ns,
                                      .event = event,
                                      .with_strings = true,
                                      .is_of_process = event->desc->id == PT_EV_stage};
    if (event->desc->id == PT_EV_mark) {
        const pt_u32 name = pt_event_as(event, mark)->name;
        const char *text = pt_process_string(event->process, name);
        slice.event = NULL;
        slice.category = "mark";
        slice.name = text ? text : "";
        slice.name_key = (pt_u64)event->process->index << 32 | name;
    }
    pt_timeline_show_instant(timeline, &slice);
}

static void show_counter(struct pt_timeline *timeline, struct pt_timeline_process *process,
                         const struct pt_event *event)
{
    const struct pt_ev_counter *counter = pt_event_as(event, counter);
    const char *name = pt_process_string(event->process, counter->name);
    if (!pt_window_has(&timeline->window, event->start_ns))
        return;
    if (!isfinite(counter->value)) {
        timeline->summary->left_out++;
        return;
    }
    pt_timeline_show_counter(timeline,
                             &(struct pt_timeline_counter){.process = process,
                                                           .name = name && *name ? name : "counter",
                                                           .series = "value",
                                                           .key = PT_TIMELINE_KEY_NAME(counter->name)},
                             event->start_ns, counter->value);
}

/* ---- exec: a slice from the call to the end of the image, or to its failure ---- */

static void end_exec(struct pt_timeline *timeline, struct pt_timeline_lane *lane, pt_i64 at_ns,
                     const struct pt_event *failure, struct pt_timeline_process *next_image)
{
    pt_i64 start_ns = lane->exec.start_ns, end_ns = at_ns;
    lane->exec.is_open = false;
    if (!pt_window_clip(&timeline->window, &start_ns, &end_ns))
        return;
    struct pt_timeline_track *track = pt_timeline_lane_place(timeline, lane, &start_ns, &end_ns);
    if (!track)
        return;
    const char *path = pt_process_string(lane->process->process, (pt_u32)lane->exec.number);
    const struct pt_timeline_arg arg = {.key = "path", .text = path ? path : ""};
    struct pt_timeline_slice slice = {
        .track = track, .start_ns = start_ns, .end_ns = end_ns, .event = failure, .with_strings = true};
    if (!failure) {
        slice.category = "proc";
        slice.name = "exec";
        slice.args = &arg;
        slice.n_args = 1;
    }
    slice.arrow_from =
        pt_timeline_link_process(timeline, "exec", &(struct pt_timeline_place){track, start_ns}, next_image);
    pt_timeline_show(timeline, &slice);
}

static void begin_exec(struct pt_timeline_lane *lane, const struct pt_event *event)
{
    lane->exec = (struct pt_timeline_period){
        .is_open = true, .number = pt_event_as(event, proc_exec)->path, .start_ns = event->start_ns};
}

/* ---- all events ---- */

static void show_point(struct pt_timeline *timeline, struct pt_timeline_lane *lane, const struct pt_event *event)
{
    switch (event->desc->id) {
    case PT_EV_counter:
        show_counter(timeline, lane->process, event);
        break;
    case PT_EV_step:
    case PT_EV_epoch:
        begin_period(timeline, lane, event);
        break;
    case PT_EV_range_open:
        pt_timeline_range_open(lane->process, event);
        break;
    case PT_EV_range_close:
        pt_timeline_range_close(timeline, lane->process, event);
        break;
    case PT_EV_proc_exec:
        begin_exec(lane, event);
        break;
    case PT_EV_proc_exec_failed: /* end_exec shows it */
    case PT_EV_thread_start:     /* the track's first slice says as much */
    case PT_EV_lock_wake:        /* thousands, and each ends a wait that is shown */
    case PT_EV_lock_init:
        break;
    default:
        show_instant(timeline, lane, event);
    }
}

static void end_open(struct pt_timeline *timeline, struct pt_timeline_lane *lane, pt_i64 at_ns,
                     const struct pt_timeline_arg *arg)
{
    while (lane->tracks.tracks[0] && lane->tracks.tracks[0]->nesting.n_ranges)
        end_range(timeline, lane, at_ns, arg);
    end_period(timeline, lane, &lane->step, at_ns, arg);
    end_period(timeline, lane, &lane->epoch, at_ns, arg);
}

void pt_timeline_thread_event(struct pt_timeline *timeline, const struct pt_event *event)
{
    struct pt_timeline_lane *lane = pt_timeline_lane(timeline, event);
    const struct pt_hole *hole;
    while ((hole = pt_thread_next_hole(event->thread, event->start_ns, &lane->holes)))
        end_open(timeline, lane, hole->from_ns, &ended_in_hole);
    /* A vfork'ed child execs in its parent's memory: if the thread runs on, the exec was that of the child. */
    if (lane->exec.is_open)
        end_exec(timeline, lane, event->start_ns, event->desc->id == PT_EV_proc_exec_failed ? event : NULL, NULL);
    switch (event->desc->role) {
    case PT_ROLE_UNIT:
        break;
    case PT_ROLE_SPAN:
        show_span(timeline, lane, event);
        break;
    case PT_ROLE_POINT:
        show_point(timeline, lane, event);
        break;
    case PT_ROLE_BEGIN:
        begin_range(timeline, lane, event);
        break;
    case PT_ROLE_END:
        end_range(timeline, lane, event->start_ns, NULL);
        break;
    }
}

static void finish_lane(struct pt_timeline *timeline, struct pt_timeline_lane *lane)
{
    const pt_i64 end_ns = lane->thread->end_ns;
    if (lane->exec.is_open)
        end_exec(timeline, lane, lane->process->end_ns, NULL, pt_timeline_next_image(timeline, lane->process));
    end_open(timeline, lane, end_ns,
             pt_timeline_is_end(timeline, lane->process->process, end_ns) ? &ended_with_thread : NULL);
}

void pt_timeline_threads_finish(struct pt_timeline *timeline, struct pt_timeline_process *process)
{
    for (pt_u32 i = 0; i < process->process->n_threads; i++)
        if (process->lanes[i])
            finish_lane(timeline, process->lanes[i]);
}
