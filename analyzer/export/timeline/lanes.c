/* SPDX-License-Identifier: MIT
 *
 * timeline/lanes.c - the rows of threads, made when something is shown there. One thread. Never: makes one that
 * stays empty. */
#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>

#include "proftrace/events.h"
#include "rows.h"

#define LANE_ROWS 8
#define ORDER_STEP (PT_TIMELINE_ROWS + 1)

static struct pt_timeline_row *new_beside(struct pt_timeline_row *thread, const char *what, pt_u32 order)
{
    struct pt_timeline_row *row = pt_timeline_row_new(thread->process, order);
    row->beside = thread;
    row->tid = pt_timeline_ids_new_tid(&thread->process->timeline->ids);
    snprintf(row->name, sizeof row->name, "%.40s %s", thread->name, what);
    return row;
}

static struct pt_timeline_row *make_lane_row(void *context, pt_u32 index)
{
    struct pt_timeline_lane *lane = context;
    struct pt_timeline_process *process = lane->process;
    const pt_u32 tid = lane->thread->tid;
    const bool is_main = tid == process->process->pid;
    const pt_u32 order = (is_main ? 0 : 1 + lane->thread->index) * ORDER_STEP + 1 + index;
    if (index)
        return new_beside(pt_timeline_thread_row(lane), "(overlapping)", order);
    struct pt_timeline_row *row = pt_timeline_row_new(process, order);
    row->tid = process->timeline->ids.tids[process->process->index][lane->thread->index];
    row->thread_tid = row->tid;
    snprintf(row->name, sizeof row->name, "%s %u", is_main ? "main" : "thread", tid);
    return row;
}

struct pt_timeline_row *pt_timeline_thread_row(struct pt_timeline_lane *lane)
{
    if (!lane->rows.rows[0])
        lane->rows.rows[0] = make_lane_row(lane, 0);
    return lane->rows.rows[0];
}

static void make_steps(struct pt_timeline_lane *lane)
{
    struct pt_timeline_row *thread = pt_timeline_thread_row(lane);
    lane->steps = new_beside(thread, "steps", thread->order - 1);
}

struct pt_timeline_lane *pt_timeline_lane_at(struct pt_timeline_process *process, pt_u32 thread_index)
{
    struct pt_timeline_lane **slot = &process->lanes[thread_index];
    if (!*slot) {
        *slot = pt_calloc(1, sizeof **slot);
        (*slot)->thread = &process->process->threads[thread_index];
        (*slot)->process = process;
        (*slot)->rows.limit = LANE_ROWS;
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

struct pt_timeline_row *pt_timeline_lane_place(struct pt_timeline *timeline, struct pt_timeline_lane *lane,
                                               pt_i64 *start_ns, pt_i64 *end_ns)
{
    return pt_timeline_place(timeline, &lane->rows, make_lane_row, lane, start_ns, end_ns);
}

void pt_timeline_lane_free(struct pt_timeline_lane *lane)
{
    if (!lane)
        return;
    pt_timeline_rows_free(&lane->rows);
    pt_timeline_row_free(lane->steps);
    free(lane);
}
