/* SPDX-License-Identifier: MIT
 *
 * timeline/lanes.c - the tracks of threads, made when something is shown there. One thread. Never: makes one that
 * stays empty. */
#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/path.h"
#include "proftrace/events.h"
#include "tracks.h"

#define LANE_TRACKS 8
#define ORDER_STEP (PT_TIMELINE_TRACKS + 1)

static struct pt_timeline_track *new_beside(struct pt_timeline_track *thread, const char *what, pt_u32 order)
{
    struct pt_timeline_track *track = pt_timeline_track_new(thread->process, order);
    track->beside = thread;
    track->tid = pt_timeline_ids_new_tid(&thread->process->timeline->ids);
    snprintf(track->name, sizeof track->name, "%.40s %s", thread->name, what);
    return track;
}

/* Of the last thread of these numbers that began before `end_ns`: a number is given to another thread later. */
static const char *name_at(const struct pt_timeline *timeline, pt_u32 pid, pt_u32 tid, pt_i64 end_ns)
{
    size_t low = 0, high = timeline->thread_names.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct pt_timeline_thread_name *one = &timeline->thread_names.items[middle];
        const bool is_before = one->pid != pid   ? one->pid < pid
                               : one->tid != tid ? one->tid < tid
                                                 : one->start_ns <= end_ns;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    const struct pt_timeline_thread_name *last = low ? &timeline->thread_names.items[low - 1] : NULL;
    return last && last->pid == pid && last->tid == tid ? last->name : NULL;
}

const char *pt_timeline_thread_name(const struct pt_timeline *timeline, const struct pt_process *process, pt_u32 tid)
{
    /* The main thread goes on after an exec, and its last name is that of the program that came then. */
    const bool is_anothers = process->state == PT_PROCESS_EXECED && tid == process->pid;
    const char *name =
        process->is_elsewhere || is_anothers ? NULL : name_at(timeline, process->pid, tid, process->end_ns);
    const char *program = process->exe ? pt_base_name(process->exe) : "";
    /* The kernel cuts a name after 15 characters; a thread begins with that of its maker, which a forked process may
     * have changed before it noted its own. */
    const bool is_forked = process->parent_trace_id && !process->previous_image;
    if (!name || !strncmp(name, program, strlen(name)) || (!is_forked && process->comm && !strcmp(name, process->comm)))
        return NULL;
    return name;
}

static struct pt_timeline_track *make_lane_track(void *context, pt_u32 index)
{
    struct pt_timeline_lane *lane = context;
    struct pt_timeline_process *process = lane->process;
    const pt_u32 tid = lane->thread->tid;
    const bool is_main = tid == process->process->pid;
    const pt_u32 order = (is_main ? 0 : 1 + lane->thread->index) * ORDER_STEP + 1 + index;
    if (index)
        return new_beside(pt_timeline_thread_track(lane), "(overlapping)", order);
    struct pt_timeline_track *track = pt_timeline_track_new(process, order);
    track->tid = process->timeline->ids.tids[process->process->index][lane->thread->index];
    track->thread_tid = track->tid;
    const char *name = pt_timeline_thread_name(process->timeline, process->process, tid);
    snprintf(track->name, sizeof track->name, "%.40s %u", name ? name : is_main ? "main" : "thread", tid);
    return track;
}

struct pt_timeline_track *pt_timeline_thread_track(struct pt_timeline_lane *lane)
{
    if (!lane->tracks.tracks[0])
        lane->tracks.tracks[0] = make_lane_track(lane, 0);
    return lane->tracks.tracks[0];
}

static void make_steps(struct pt_timeline_lane *lane)
{
    struct pt_timeline_track *thread = pt_timeline_thread_track(lane);
    lane->steps = new_beside(thread, "steps", thread->order - 1);
}

/* A track whose slices come outer ones first: none waits for one around it, not even those at its begin. */
static struct pt_timeline_track *new_sorted(struct pt_timeline_lane *lane, const char *what, pt_u32 order)
{
    struct pt_timeline_track *thread = pt_timeline_thread_track(lane);
    struct pt_timeline_track *track = new_beside(thread, what, thread->order + order);
    track->nesting.from_ns = INT64_MIN;
    return track;
}

struct pt_timeline_track *pt_timeline_lane_samples(struct pt_timeline_lane *lane)
{
    if (!lane->samples)
        lane->samples = new_sorted(lane, "(CPU samples)", LANE_TRACKS);
    return lane->samples;
}

struct pt_timeline_track *pt_timeline_lane_operators(struct pt_timeline_lane *lane)
{
    if (!lane->operators)
        lane->operators = new_sorted(lane, "(operators)", LANE_TRACKS + 1);
    return lane->operators;
}

struct pt_timeline_lane *pt_timeline_lane_at(struct pt_timeline_process *process, pt_u32 thread_index)
{
    struct pt_timeline_lane **slot = &process->lanes[thread_index];
    if (!*slot) {
        *slot = pt_calloc(1, sizeof **slot);
        (*slot)->thread = &process->process->threads[thread_index];
        (*slot)->process = process;
        (*slot)->tracks.limit = LANE_TRACKS;
    }
    return *slot;
}

struct pt_timeline_lane *pt_timeline_lane(struct pt_timeline *timeline, const struct pt_event *event)
{
    struct pt_timeline_process *process = &timeline->processes[event->process->index];
    struct pt_timeline_lane *lane = pt_timeline_lane_at(process, event->thread->index);
    if (!lane->steps && (event->desc->id == PT_EV_step || event->desc->id == PT_EV_epoch))
        make_steps(lane);
    return lane;
}

struct pt_timeline_track *pt_timeline_lane_place(struct pt_timeline *timeline, struct pt_timeline_lane *lane,
                                                 pt_i64 *start_ns, pt_i64 *end_ns)
{
    return pt_timeline_place(timeline, &lane->tracks, make_lane_track, lane, start_ns, end_ns);
}

void pt_timeline_lane_free(struct pt_timeline_lane *lane)
{
    if (!lane)
        return;
    pt_timeline_tracks_free(&lane->tracks);
    pt_timeline_track_free(lane->steps);
    pt_timeline_track_free(lane->samples);
    pt_timeline_track_free(lane->operators);
    free(lane);
}
