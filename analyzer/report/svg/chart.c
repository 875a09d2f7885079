/* SPDX-License-Identifier: MIT
 *
 * Owns: how a chart is drawn. Threads: any. Never: bridges a gap; needs a script, a font or anything from outside.
 *
 * Horizontally, all positions are percentages of the width; only the curves are in a box of their own that is stretched
 * (vector-effect keeps the width of their lines). So one drawing suits a screen, a phone and paper.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/text/sanitize.h"
#include "chart_axis.h"
#include "style.h"
#include "svg.h"

enum {
    PLOT_TOP = 34, /* room above the plot for names of stages and the label of a peak at the top */
    GUTTER = 62,   /* left of it, for the marks of the axis */
    PLOT_HEIGHT = 112,
    PLOT_BOTTOM = PLOT_TOP + PLOT_HEIGHT,
    BELOW_TOP = PLOT_HEIGHT + 18,
    FILE_WIDTH = 898,
    FILE_HEAD = 24,
    BUCKETS = 300,
    SLICES = 60,
    BOX_WIDTH = 1000,
};

/* A stage with a smaller share of the run has its name in the tooltip only. */
static const double NARROWEST_NAME = 0.05;

struct drawing {
    struct pt_str *out;
    const struct pt_chart *chart;
    struct pt_axis axis;
    int top; /* of the plot, from the top of the drawing */
};

static double y_of(const struct drawing *d, double value)
{
    const double share = value / d->axis.top;
    return PLOT_HEIGHT * (1 - (share < 0 ? 0 : share > 1 ? 1 : share));
}

static void put_escaped(const struct drawing *d, const struct pt_str *text)
{
    pt_sanitize_html(d->out, pt_str_text(text));
}

static void put_x(const struct drawing *d, const char *name, double t_s)
{
    pt_str_printf(d->out, " %s=\"", name);
    pt_svg_share(d->out, t_s, d->chart->end_s);
    pt_str_char(d->out, '"');
}

/* ---- behind the curves ---- */

static void put_bands(const struct drawing *d)
{
    for (pt_u32 i = 0; i < d->chart->n_bands; i++) {
        const struct pt_chart_band *band = &d->chart->bands[i];
        const double width_s = band->end_s - band->start_s;
        pt_str_add(d->out, "<svg");
        put_x(d, "x", band->start_s);
        put_x(d, "width", width_s);
        pt_str_printf(d->out, " y=\"%d\" height=\"%d\"><title>", d->top - PLOT_TOP, PLOT_BOTTOM);
        pt_sanitize_html(d->out, band->name);
        pt_str_printf(d->out, "</title><rect class=\"b%u\" width=\"100%%\" height=\"100%%\"/>", i % 2);
        if (width_s >= NARROWEST_NAME * d->chart->end_s) {
            pt_str_add(d->out, "<text class=\"bn\" x=\"4\" y=\"13\">");
            pt_sanitize_html(d->out, band->name);
            pt_str_add(d->out, "</text>");
        }
        pt_str_add(d->out, "</svg>");
    }
}

static void put_grid(const struct drawing *d)
{
    for (double mark = 0; mark <= d->axis.top * 1.001; mark += d->axis.step)
        pt_str_printf(d->out, "<line class=\"g\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      d->top + y_of(d, mark), d->top + y_of(d, mark));
    if (d->chart->limit <= d->axis.top && d->chart->limit > 0)
        pt_str_printf(d->out, "<line class=\"lim\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>",
                      d->top + y_of(d, d->chart->limit), d->top + y_of(d, d->chart->limit));
}

static void put_value_marks(const struct drawing *d)
{
    for (double mark = 0; mark <= d->axis.top * 1.001; mark += d->axis.step) {
        pt_str_printf(d->out, "<text class=\"y\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", GUTTER - 6,
                      d->top + y_of(d, mark) + 4);
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_chart_mark(&text, d->chart, mark, mark + d->axis.step > d->axis.top * 1.001);
        put_escaped(d, &text);
        pt_str_add(d->out, "</text>");
    }
}

static void put_time_marks(const struct drawing *d)
{
    const double end_s = d->chart->end_s, step = pt_chart_time_step(end_s);
    for (double t_s = 0; t_s <= end_s && step > 0; t_s += step) {
        pt_str_add(d->out, "<text class=\"x\"");
        put_x(d, "x", t_s);
        const char *anchor = t_s <= 0 ? "start" : t_s > 0.95 * end_s ? "end" : "middle";
        pt_str_printf(d->out, " y=\"%d\" text-anchor=\"%s\">", d->top + PLOT_HEIGHT + 14, anchor);
        PT_AUTO(pt_str_fini) struct pt_str text = {0};
        pt_chart_time(&text, t_s, end_s);
        put_escaped(d, &text);
        pt_str_add(d->out, "</text>");
    }
}

/* ---- the curves ---- */

static double box_x(const struct drawing *d, double t_s)
{
    return d->chart->end_s > 0 ? BOX_WIDTH * t_s / d->chart->end_s : 0;
}

static void put_line(const struct drawing *d, pt_u32 series, const struct pt_chart_point *points, pt_u32 n)
{
    pt_str_printf(d->out, "<path class=\"l s%u l%u\" vector-effect=\"non-scaling-stroke\" d=\"", series, series);
    for (pt_u32 i = 0; i < n; i++) {
        pt_str_printf(d->out, "%c%.1f %.1f", points[i].joined ? 'L' : 'M', box_x(d, points[i].t_s),
                      y_of(d, points[i].value));
        /* A point with gaps on both sides is a dot: a line without length, drawn by its round ends. */
        if (!points[i].joined && (i + 1 == n || !points[i + 1].joined))
            pt_str_add(d->out, "h0");
    }
    pt_str_add(d->out, "\"/>");
}

static void put_area(const struct drawing *d, pt_u32 series, const struct pt_chart_point *points, pt_u32 n)
{
    pt_str_printf(d->out, "<path class=\"a s%u\" d=\"", series);
    for (pt_u32 i = 0; i < n; i++) {
        const double x = box_x(d, points[i].t_s);
        if (!points[i].joined)
            pt_str_printf(d->out, "M%.1f %d", x, PLOT_HEIGHT);
        pt_str_printf(d->out, "L%.1f %.1f", x, y_of(d, points[i].value));
        if (i + 1 == n || !points[i + 1].joined)
            pt_str_printf(d->out, "V%dZ", PLOT_HEIGHT);
    }
    pt_str_add(d->out, "\"/>");
}

static void put_curves(const struct drawing *d)
{
    pt_str_printf(d->out,
                  "<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "overflow=\"visible\">",
                  d->top, PLOT_HEIGHT, BOX_WIDTH, PLOT_HEIGHT);
    for (pt_u32 i = d->chart->n_series; i-- > 0;) {
        PT_AUTO(pt_freep) struct pt_chart_point *points = NULL;
        const pt_u32 n = pt_chart_thin(&d->chart->series[i], d->chart->end_s, BUCKETS, &points);
        if (!n)
            continue;
        if (!i)
            put_area(d, i, points, n);
        put_line(d, i, points, n);
    }
    pt_str_add(d->out, "</svg>");
}

/* The highest point of all series. */
static void put_peak(const struct drawing *d)
{
    const struct pt_chart *chart = d->chart;
    pt_u32 which = chart->n_series, at = 0;
    for (pt_u32 i = 0; i < chart->n_series; i++) {
        const pt_u32 peak = pt_chart_peak(&chart->series[i], -INFINITY, INFINITY);
        if (peak == chart->series[i].n ||
            (which < chart->n_series && chart->series[i].values[peak] <= chart->series[which].values[at]))
            continue;
        which = i;
        at = peak;
    }
    if (which == chart->n_series || chart->series[which].values[at] <= 0)
        return;
    const double t_s = chart->series[which].t_s[at], value = chart->series[which].values[at];
    const bool at_right = t_s > 0.8 * chart->end_s;
    const double y = d->top + y_of(d, value);
    pt_str_printf(d->out, "<circle class=\"d s%u\" r=\"4\"", which);
    put_x(d, "cx", t_s);
    pt_str_printf(d->out, " cy=\"%.1f\"/><text class=\"pk\"", y);
    put_x(d, "x", t_s);
    pt_str_printf(d->out, " dx=\"%d\" y=\"%.1f\" text-anchor=\"%s\">", at_right ? -4 : 4, y - 7,
                  at_right ? "end" : "start");
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_chart_value(&text, chart, value);
    put_escaped(d, &text);
    pt_str_add(d->out, "</text>");
}

/* ---- what a pointer finds ---- */

/* A slice is without its end; the last sample of what still runs is the end of the last one. */
static void put_slice_text(const struct drawing *d, double from_s, double to_s, bool is_last)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const struct pt_chart_band *band = pt_chart_band_at(d->chart, (from_s + to_s) / 2);
    pt_chart_time(&text, from_s, d->chart->end_s);
    pt_str_add(&text, " to ");
    pt_chart_time(&text, to_s, d->chart->end_s);
    if (band)
        pt_str_printf(&text, ", %s", band->name);
    const size_t before = text.n;
    for (pt_u32 i = 0; i < d->chart->n_series; i++) {
        const struct pt_chart_series *series = &d->chart->series[i];
        const pt_u32 peak = pt_chart_peak(series, from_s, is_last ? INFINITY : to_s);
        if (peak == series->n)
            continue;
        pt_str_printf(&text, "\n%s ", series->label);
        pt_chart_value(&text, d->chart, series->values[peak]);
    }
    if (text.n == before)
        pt_str_add(&text, "\nno sample");
    /* The line break is ours; the text between must be escaped. */
    for (const char *at = pt_str_text(&text); at;) {
        const char *end = strchr(at, '\n');
        PT_AUTO(pt_str_fini) struct pt_str line = {0};
        pt_str_bytes(&line, at, end ? (size_t)(end - at) : strlen(at));
        put_escaped(d, &line);
        if (end)
            pt_str_char(d->out, '\n');
        at = end ? end + 1 : NULL;
    }
}

static void put_slices(const struct drawing *d)
{
    const pt_u32 samples = d->chart->n_series ? d->chart->series[0].n : 0;
    const pt_u32 n = samples < SLICES ? samples : SLICES;
    const double width_s = n ? d->chart->end_s / n : 0;
    for (pt_u32 i = 0; i < n; i++) {
        pt_str_add(d->out, "<rect class=\"h\"");
        put_x(d, "x", i * width_s);
        put_x(d, "width", width_s);
        pt_str_printf(d->out, " y=\"%d\" height=\"%d\"><title>", d->top, PLOT_HEIGHT);
        put_slice_text(d, i * width_s, (i + 1) * width_s, i + 1 == n);
        pt_str_add(d->out, "</title></rect>");
    }
}

/* ---- whole drawings ---- */

static void put_description(const struct drawing *d)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    pt_str_add(&text, d->chart->title);
    for (pt_u32 i = 0; i < d->chart->n_series; i++) {
        pt_str_printf(&text, "%s%s ", i ? "; " : ": ", d->chart->series[i].label);
        pt_chart_peak_text(&text, d->chart, i);
    }
    put_escaped(d, &text);
}

static void put_axis(const struct drawing *d)
{
    pt_str_printf(d->out, "<svg width=\"%d\" height=\"%d\" aria-hidden=\"true\">", GUTTER, d->top + BELOW_TOP);
    put_value_marks(d);
    pt_str_add(d->out, "</svg>");
}

static void put_plot(const struct drawing *d, const char *place)
{
    pt_str_printf(d->out, "<svg %s height=\"%d\" role=\"img\" aria-label=\"", place, d->top + BELOW_TOP);
    put_description(d);
    pt_str_add(d->out, "\">");
    put_bands(d);
    put_grid(d);
    put_curves(d);
    put_time_marks(d);
    put_peak(d);
    put_slices(d);
    pt_str_add(d->out, "</svg>");
}

void pt_svg_chart(struct pt_str *out, const struct pt_chart *chart)
{
    const struct drawing d = {out, chart, pt_chart_axis(chart), PLOT_TOP};
    pt_str_add(out, "<div class=\"chart\">");
    put_axis(&d);
    put_plot(&d, "width=\"100%\"");
    pt_str_add(out, "</div>");
}

void pt_svg_chart_file(struct pt_str *out, const struct pt_chart *chart)
{
    const struct drawing d = {out, chart, pt_chart_axis(chart), PLOT_TOP + FILE_HEAD};
    pt_str_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\"><style>",
                  GUTTER + FILE_WIDTH, d.top + BELOW_TOP);
    pt_str_add(out, pt_svg_style);
    pt_str_add(out, "</style><rect width=\"100%\" height=\"100%\" style=\"fill:var(--bg)\"/>"
                    "<text x=\"4\" y=\"16\" style=\"font-weight:600\">");
    put_description(&d);
    pt_str_add(out, "</text>");
    put_axis(&d);
    PT_AUTO(pt_str_fini) struct pt_str place = {0};
    pt_str_printf(&place, "x=\"%d\" width=\"%d\"", GUTTER, FILE_WIDTH);
    put_plot(&d, pt_str_text(&place));
    pt_str_add(out, "</svg>\n");
}
