/* SPDX-License-Identifier: MIT
 *
 * thinned.c - Owns: the point of each bucket that is kept. One thread. Never: shows the same value twice in a track. */
#include "thinned.h"

static void thinned_show(struct pt_thinned *series, pt_i64 at_ns, pt_u64 value)
{
    if (series->was_shown && series->shown == value)
        return;
    series->show(series->context, at_ns, value);
    series->shown = value;
    series->was_shown = true;
}

static void show_before(struct pt_thinned *series)
{
    if (series->has_before)
        thinned_show(series, series->from_ns, series->before);
    series->has_before = false;
}

void pt_thinned_flush(struct pt_thinned *series)
{
    show_before(series);
    if (!series->has_points)
        return;
    if (series->peak > series->last)
        thinned_show(series, series->peak_at_ns, series->peak);
    thinned_show(series, series->last_at_ns, series->last);
    series->has_points = false;
}

void pt_thinned_end(struct pt_thinned *series, pt_i64 at_ns)
{
    if (at_ns < series->from_ns || !series->show)
        return;
    pt_thinned_add(series, at_ns, 0);
    pt_thinned_flush(series);
}

void pt_thinned_add(struct pt_thinned *series, pt_i64 at_ns, pt_u64 value)
{
    if (at_ns < series->from_ns) {
        series->before = value;
        series->has_before = true;
        return;
    }
    show_before(series);
    if (series->has_points && at_ns >= series->bucket_end_ns)
        pt_thinned_flush(series);
    if (!series->has_points) {
        series->has_points = true;
        series->bucket_end_ns = at_ns + series->bucket_ns;
        series->peak = 0;
    }
    if (value >= series->peak) {
        series->peak = value;
        series->peak_at_ns = at_ns;
    }
    series->last = value;
    series->last_at_ns = at_ns;
}
