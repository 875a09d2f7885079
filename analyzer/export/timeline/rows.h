/* SPDX-License-Identifier: MIT
 *
 * timeline/rows.h - rows of a process, and which of several takes a slice.
 */
#ifndef PT_EXPORT_TIMELINE_ROWS_H
#define PT_EXPORT_TIMELINE_ROWS_H

#include "types.h"

/* A new row of the process, to be named by the caller. */
struct pt_timeline_row *pt_timeline_row_new(struct pt_timeline_process *process, pt_u32 order);
void pt_timeline_row_free(struct pt_timeline_row *row);

/* The first row with room, which may move the slice by what rounding put it wrong; NULL when none has. `make` gives the
 * row at an index that has none yet. */
struct pt_timeline_row *pt_timeline_place(struct pt_timeline *timeline, struct pt_timeline_rows *rows,
                                          struct pt_timeline_row *(*make)(void *context, pt_u32 index), void *context,
                                          pt_i64 *start_ns, pt_i64 *end_ns);
void pt_timeline_rows_free(struct pt_timeline_rows *rows);

#endif
