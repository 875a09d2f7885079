/* SPDX-License-Identifier: MIT
 *
 * timeline/rows.c - on which row a slice lies.
 *
 * Owns nothing. One thread. Never: puts two slices on one row that overlap by halves, or, where the writer needs them
 * in order, an inner slice before the outer one that begins at the same instant. */
#include "rows.h"

#include <limits.h>
#include <stdlib.h>

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
