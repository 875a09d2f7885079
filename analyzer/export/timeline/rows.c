/* SPDX-License-Identifier: MIT
 *
 * timeline/rows.c - on which row a slice lies, and the way to the writer.
 *
 * Owns: the counts of what was shown. One thread. Never: gives the writer two slices of one row that overlap by halves,
 * or, where it needs them in order, an inner slice before the outer one that begins at the same instant. */
#include "timeline.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define LANE_ROWS 8
#define ORDER_STEP (PT_TIMELINE_ROWS + 1)

struct pt_timeline_row *pt_timeline_row_new(struct pt_timeline_process *process, pt_u32 order)
{
    struct pt_timeline_row *row = pt_calloc(1, sizeof *row);
    row->process = process;
    row->order = order;
    row->track.from_ns = process->from_ns;
    row->track.until_ns = process->until_ns;
    row->track.forgotten_until_ns = LLONG_MIN;
    row->track.refuses_late_parents = process->timeline->writer->in_order;
    return row;
}

static struct pt_timeline_row *new_beside(struct pt_timeline_row *thread, const char *what, pt_u32 order)
{
    struct pt_timeline_row *row = pt_timeline_row_new(thread->process, order);
    row->beside = thread;
    row->tid = pt_chrome_ids_new_tid(&thread->process->timeline->ids);
    snprintf(row->name, sizeof row->name, "%.40s %s", thread->name, what);
    return row;
}

/* ---- threads ---- */

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

struct pt_timeline_row *pt_timeline_place(struct pt_timeline *timeline, struct pt_timeline_rows *rows,
                                          struct pt_timeline_row *(*make)(void *context, pt_u32 index), void *context,
                                          pt_i64 *start_ns, pt_i64 *end_ns)
{
    for (pt_u32 i = 0; i < rows->limit; i++) {
        if (!rows->rows[i])
            rows->rows[i] = make(context, i);
        if (!pt_track_place(&rows->rows[i]->track, start_ns, end_ns))
            continue;
        timeline->summary->moved += i > 0;
        return rows->rows[i];
    }
    timeline->summary->left_out++;
    return NULL;
}

struct pt_timeline_row *pt_timeline_lane_place(struct pt_timeline *timeline, struct pt_timeline_lane *lane,
                                               pt_i64 *start_ns, pt_i64 *end_ns)
{
    return pt_timeline_place(timeline, &lane->rows, make_lane_row, lane, start_ns, end_ns);
}

void pt_timeline_row_free(struct pt_timeline_row *row)
{
    if (row)
        pt_track_free(&row->track);
    free(row);
}

void pt_timeline_rows_free(struct pt_timeline_rows *rows)
{
    for (pt_u32 i = 0; i < PT_TIMELINE_ROWS; i++)
        pt_timeline_row_free(rows->rows[i]);
}

void pt_timeline_lane_free(struct pt_timeline_lane *lane)
{
    if (!lane)
        return;
    pt_timeline_rows_free(&lane->rows);
    pt_timeline_row_free(lane->steps);
    free(lane);
}

/* ---- to the writer ---- */

static void use_row(struct pt_timeline *timeline, struct pt_timeline_row *row)
{
    if (row->is_used)
        return;
    row->is_used = true;
    timeline->summary->tracks++;
    timeline->writer->row(timeline, row);
}

void pt_timeline_show(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    use_row(timeline, slice->row);
    timeline->writer->slice(timeline, slice);
    timeline->summary->slices++;
    if (slice->work.row)
        pt_timeline_show_arrow(timeline, "ac2g", "ac2g", &slice->call, &slice->work);
}

void pt_timeline_show_opened(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    if (!timeline->writer->opened)
        return;
    use_row(timeline, slice->row);
    timeline->writer->opened(timeline, slice);
}

void pt_timeline_show_instant(struct pt_timeline *timeline, const struct pt_timeline_slice *slice)
{
    use_row(timeline, slice->row);
    timeline->writer->instant(timeline, slice);
    timeline->summary->instants++;
}

void pt_timeline_show_counter(struct pt_timeline *timeline, const struct pt_timeline_counter *counter, pt_i64 at_ns,
                              pt_f64 value)
{
    timeline->writer->counter(timeline, counter, at_ns, value);
    timeline->summary->counters++;
}

static void show_point(void *context, pt_i64 at_ns, pt_u64 value)
{
    const struct pt_timeline_counter *counter = context;
    struct pt_timeline *timeline = counter->process->timeline;
    if (pt_timeline_in_window(timeline, at_ns))
        pt_timeline_show_counter(timeline, counter, at_ns, (pt_f64)value);
}

void pt_timeline_show_series(struct pt_thinned *series, struct pt_timeline_counter *counter, pt_i64 buckets)
{
    series->show = show_point;
    series->context = counter;
    series->bucket_ns = pt_timeline_shown_ns(counter->process->timeline) / buckets;
}

void pt_timeline_show_arrow(struct pt_timeline *timeline, const char *category, const char *name,
                            const struct pt_timeline_place *from, const struct pt_timeline_place *to)
{
    if (timeline->writer->arrow)
        timeline->writer->arrow(timeline, category, name, from, to);
    timeline->summary->flows++;
}

pt_u64 pt_timeline_link_process(struct pt_timeline *timeline, const char *what, const struct pt_timeline_place *from,
                                struct pt_timeline_process *made)
{
    if (!made || made->from_ns != made->start_ns)
        return 0;
    made->is_linked = true;
    if (from->at_ns > made->from_ns)
        return 0;
    pt_timeline_show_arrow(timeline, "process", what, from, &(struct pt_timeline_place){made->main_row, made->from_ns});
    return made->arrow_to = ++timeline->n_arrows;
}
