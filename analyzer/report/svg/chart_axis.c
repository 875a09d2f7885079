/* SPDX-License-Identifier: MIT
 *
 * Owns: the arithmetic of charts. Threads: any. Never: takes a missing sample for 0, or thins a peak away.
 */
#include "chart_axis.h"

#include <math.h>
#include <stdlib.h>

#include "report/doc/show.h"

/* ---- the vertical axis ---- */

static bool is_bytes(const struct pt_chart *chart)
{
    return chart->show == PT_SHOW_BYTES || chart->show == PT_SHOW_BYTES_PER_SECOND;
}

/* The first of 1, 2, 5, 10, 20 ... (1, 2, 4 ... 512 of each 1024 for bytes) that covers `value` in at most 4 steps. */
static double round_step(double value, bool binary)
{
    static const double decimal[] = {1, 2, 5};
    double unit = 1;
    if (binary) {
        while (value > 4 * unit)
            unit *= 2;
        return unit;
    }
    while (unit * 4 > value * 10)
        unit /= 10;
    for (;; unit *= 10)
        for (size_t i = 0; i < sizeof decimal / sizeof *decimal; i++)
            if (value <= 4 * unit * decimal[i])
                return unit * decimal[i];
}

struct pt_axis pt_chart_axis(const struct pt_chart *chart)
{
    double largest = 0;
    for (pt_u32 i = 0; i < chart->n_series; i++)
        for (pt_u32 j = 0; j < chart->series[i].n; j++)
            if (chart->series[i].values[j] > largest && isfinite(chart->series[i].values[j]))
                largest = chart->series[i].values[j];
    if (chart->show == PT_SHOW_PERCENT && largest > 25 && largest <= 100)
        return (struct pt_axis){50, 100};
    /* Nothing at all still needs an axis that says of what. */
    if (largest <= 0)
        largest = is_bytes(chart) ? 1024 : 1;
    const double step = round_step(largest, is_bytes(chart));
    return (struct pt_axis){step, step * ceil(largest / step - 1e-9)};
}

static void show(struct pt_str *out, const struct pt_chart *chart, double value)
{
    pt_show_value(out, pt_cell(chart->show, pt_real(value)), PT_STYLE_TERMINAL);
}

void pt_chart_value(struct pt_str *out, const struct pt_chart *chart, double value)
{
    if (chart->show == PT_SHOW_NUMBER && fabs(value) < 999.5)
        pt_str_printf(out, "%.3g", value);
    else
        show(out, chart, value);
    if (chart->unit)
        pt_str_printf(out, " %s", chart->unit);
}

void pt_chart_mark(struct pt_str *out, const struct pt_chart *chart, double value, bool with_unit)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (is_bytes(chart) && value > 0) {
        int unit = 0;
        for (; value >= 1024 && unit < 6; unit++)
            value /= 1024;
        pt_str_printf(out, "%.4g %s%s", value, units[unit], chart->show == PT_SHOW_BYTES ? "" : "/s");
        return;
    }
    pt_str_printf(out, fabs(value) < 9999.5 ? "%.4g" : "%.0f", value);
    if (chart->show == PT_SHOW_PERCENT)
        pt_str_add(out, " %");
    if (chart->unit && with_unit)
        pt_str_printf(out, " %s", chart->unit);
}

/* ---- the time axis ---- */

double pt_chart_time_step(double end_s)
{
    static const double steps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                   600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    enum { N = sizeof steps / sizeof *steps, MOST_MARKS = 6 };
    if (end_s < MOST_MARKS / 2.0)
        return round_step(end_s, false);
    for (int i = 0; i < N; i++)
        if (end_s / steps[i] <= MOST_MARKS)
            return steps[i];
    return steps[N - 1] * ceil(end_s / steps[N - 1] / MOST_MARKS);
}

void pt_chart_time(struct pt_str *out, double t_s, double end_s)
{
    const long seconds = lround(t_s);
    if (end_s < 120)
        pt_str_printf(out, "%.3g s", t_s);
    else if (end_s < 7200)
        pt_str_printf(out, "%ld:%02ld", seconds / 60, seconds % 60);
    else
        pt_str_printf(out, "%ld:%02ld h", seconds / 3600, seconds / 60 % 60);
}

/* ---- peaks ---- */

pt_u32 pt_chart_peak(const struct pt_chart_series *series, double from_s, double to_s)
{
    pt_u32 best = series->n;
    for (pt_u32 i = 0; i < series->n; i++) {
        if (series->t_s[i] < from_s || series->t_s[i] >= to_s || !isfinite(series->values[i]))
            continue;
        if (best == series->n || series->values[i] > series->values[best])
            best = i;
    }
    return best;
}

const struct pt_chart_band *pt_chart_band_at(const struct pt_chart *chart, double t_s)
{
    for (pt_u32 i = 0; i < chart->n_bands; i++)
        if (t_s >= chart->bands[i].start_s && t_s <= chart->bands[i].end_s)
            return &chart->bands[i];
    return NULL;
}

void pt_chart_peak_text(struct pt_str *out, const struct pt_chart *chart, pt_u32 index)
{
    const struct pt_chart_series *series = &chart->series[index];
    const pt_u32 peak = pt_chart_peak(series, -INFINITY, INFINITY);
    if (peak == series->n)
        return;
    pt_str_add(out, "peak ");
    pt_chart_value(out, chart, series->values[peak]);
    pt_str_add(out, " at ");
    pt_chart_time(out, series->t_s[peak], chart->end_s);
    const struct pt_chart_band *band = pt_chart_band_at(chart, series->t_s[peak]);
    if (band)
        pt_str_printf(out, " in %s", band->name);
}

/* ---- thinning ---- */

struct thin {
    const struct pt_chart_series *series;
    struct pt_chart_point *points;
    pt_u32 n, after; /* `after`: the sample behind the last point's */
};

static void keep(struct thin *thin, pt_u32 at)
{
    bool joined = thin->n > 0;
    for (pt_u32 i = thin->after; i < at && joined; i++)
        joined = isfinite(thin->series->values[i]);
    thin->points[thin->n++] = (struct pt_chart_point){thin->series->t_s[at], thin->series->values[at], joined};
    thin->after = at + 1;
}

/* The lowest and the highest of the samples that are numbers, from `first` to before the returned one; both are the
 * series' length when there is none. Few samples stay as they are: each is a bucket. */
static pt_u32 find_extremes(const struct pt_chart_series *series, pt_u32 first, double width, bool is_thinned,
                            pt_u32 ret_extremes[2])
{
    const double bucket = floor(series->t_s[first] / width);
    pt_u32 low = series->n, high = series->n, i = first;
    do {
        if (isfinite(series->values[i])) {
            low = low == series->n || series->values[i] < series->values[low] ? i : low;
            high = high == series->n || series->values[i] > series->values[high] ? i : high;
        }
        i++;
    } while (is_thinned && i < series->n && floor(series->t_s[i] / width) == bucket);
    ret_extremes[0] = low < high ? low : high;
    ret_extremes[1] = low < high ? high : low;
    return i;
}

pt_u32 pt_chart_thin(const struct pt_chart_series *series, double end_s, pt_u32 buckets, struct pt_chart_point **ret)
{
    const double width = end_s > 0 ? end_s / buckets : 1;
    struct thin thin = {.series = series, .points = pt_calloc(series->n + 1, sizeof *thin.points)};
    for (pt_u32 i = 0; i < series->n;) {
        pt_u32 extremes[2];
        i = find_extremes(series, i, width, series->n > 2 * buckets, extremes);
        if (extremes[0] < series->n)
            keep(&thin, extremes[0]);
        if (extremes[0] != extremes[1])
            keep(&thin, extremes[1]);
    }
    *ret = thin.points;
    return thin.n;
}
