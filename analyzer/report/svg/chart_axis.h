/* SPDX-License-Identifier: MIT
 *
 * svg/chart_axis.h - the arithmetic of charts: axes with round steps, curves thinned out without losing a peak, peaks.
 */
#ifndef PT_REPORT_SVG_CHART_AXIS_H
#define PT_REPORT_SVG_CHART_AXIS_H

#include "report/doc/doc.h"
#include "util/str.h"

/* The vertical axis: 0, step, 2 * step ... top. */
struct pt_axis {
    double step, top;
};

struct pt_axis pt_chart_axis(const struct pt_chart *chart);
/* The distance between the marks of the time axis. */
double pt_chart_time_step(double end_s);
/* An instant as the time axis of a run of end_s has it: "12 s", "2:30", "1:05 h". */
void pt_chart_time(struct pt_str *out, double t_s, double end_s);
/* A value with its unit: "3.90 cores", "7.20 GiB". */
void pt_chart_value(struct pt_str *out, const struct pt_chart *chart, double value);
/* A mark of the axis: as short as it can be; the unit of a plain number is said once. */
void pt_chart_mark(struct pt_str *out, const struct pt_chart *chart, double value, bool with_unit);

/* The largest value of a series in [from_s, to_s): its index; n when there is none. */
pt_u32 pt_chart_peak(const struct pt_chart_series *series, double from_s, double to_s);
/* "peak 7.20 GiB at 2:05 in train"; nothing when the series has no value. */
void pt_chart_peak_text(struct pt_str *out, const struct pt_chart *chart, pt_u32 series);
/* The stage at an instant; NULL = between stages. */
const struct pt_chart_band *pt_chart_band_at(const struct pt_chart *chart, double t_s);

/* A point of a thinned-out curve; `joined` = no gap between it and the point before. */
struct pt_chart_point {
    double t_s, value;
    bool joined;
};
/* At most 2 * buckets points: each bucket of time keeps its lowest and its highest value. The caller frees *ret. */
pt_u32 pt_chart_thin(const struct pt_chart_series *series, double end_s, pt_u32 buckets, struct pt_chart_point **ret);

#endif
