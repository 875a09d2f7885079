/* SPDX-License-Identifier: MIT
 *
 * timeline/show.h - give the writer a slice, an instant, a point of a counter or an arrow, and count it.
 */
#ifndef PT_EXPORT_TIMELINE_SHOW_H
#define PT_EXPORT_TIMELINE_SHOW_H

#include "thinned.h"
#include "types.h"

void pt_timeline_show(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
/* The beginning of a slice whose end is not known yet; its whole follows with `was_opened`. */
void pt_timeline_show_opened(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
void pt_timeline_show_instant(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
void pt_timeline_show_counter(struct pt_timeline *timeline, const struct pt_timeline_counter *counter, pt_i64 at_ns,
                              pt_f64 value);
/* The points that are left of a series are the counter's; at most so many buckets. The counter outlives the series. */
void pt_timeline_show_series(struct pt_thinned *series, struct pt_timeline_counter *counter, pt_i64 buckets);
/* The rest of a series of a process, which has nothing of it any more when it has ended. */
void pt_timeline_end_series(const struct pt_timeline_process *process, struct pt_thinned *series);
/* False: it may go on, behind what is shown or still running. */
bool pt_timeline_is_end(const struct pt_timeline *timeline, const struct pt_process *process, pt_i64 end_ns);
void pt_timeline_show_arrow(struct pt_timeline *timeline, const char *category, const char *name,
                            const struct pt_timeline_place *from, const struct pt_timeline_place *to);

#endif
