/* SPDX-License-Identifier: MIT
 *
 * Owns: the drawing of a front. Threads: any. Never: lets a name be markup.
 */
#include "front_svg.h"

#include <math.h>
#include <stdlib.h>

#include "report/svg/style.h"
#include "util/auto.h"
#include "util/text/sanitize.h"

enum { WIDTH = 720, HEIGHT = 440, LEFT = 76, RIGHT = 24, TOP = 36, BOTTOM = 52, MARKS = 5 };

struct axis {
    int of;
    double least, most;
};

struct drawing {
    const struct pt_comparison *comparison;
    struct pt_str *out;
    struct axis x, y;
};

static bool is_drawn(const struct drawing *d, const struct pt_compared *run)
{
    return isfinite(run->values[d->x.of]) && isfinite(run->values[d->y.of]);
}

/* A tenth more than the values on either side: dots on the edge are cut, and their names have no room. */
static void fit(struct drawing *d, struct axis *axis)
{
    axis->least = INFINITY;
    axis->most = -INFINITY;
    for (size_t i = 0; i < d->comparison->n; i++) {
        const struct pt_compared *run = &d->comparison->items[i];
        if (!is_drawn(d, run))
            continue;
        axis->least = fmin(axis->least, run->values[axis->of]);
        axis->most = fmax(axis->most, run->values[axis->of]);
    }
    const double room =
        axis->most > axis->least ? 0.1 * (axis->most - axis->least) : fmax(0.1 * fabs(axis->most), 1e-9);
    axis->least -= room;
    axis->most += room;
}

static double across(const struct drawing *d, double value)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (value - d->x.least) / (d->x.most - d->x.least);
}

static double up(const struct drawing *d, double value)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - d->y.least) / (d->y.most - d->y.least);
}

static void put_axes(const struct drawing *d)
{
    const struct pt_dimension_kind *x = &d->comparison->dimensions[d->x.of], *y = &d->comparison->dimensions[d->y.of];
    for (int i = 0; i <= MARKS; i++) {
        const double at_x = d->x.least + (d->x.most - d->x.least) * i / MARKS;
        const double at_y = d->y.least + (d->y.most - d->y.least) * i / MARKS;
        pt_str_printf(d->out, "<line class=\"g\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>", across(d, at_x), TOP,
                      across(d, at_x), HEIGHT - BOTTOM);
        pt_str_printf(d->out, "<line class=\"g\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>", LEFT, up(d, at_y),
                      WIDTH - RIGHT, up(d, at_y));
        pt_str_printf(d->out, "<text class=\"x\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.4g</text>",
                      across(d, at_x), HEIGHT - BOTTOM + 16, at_x);
        pt_str_printf(d->out, "<text class=\"y\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>", LEFT - 6,
                      up(d, at_y) + 4, at_y);
    }
    pt_str_printf(d->out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s &#8594;</text>", WIDTH - RIGHT, HEIGHT - 12,
                  x->key);
    pt_str_add(d->out, "<text x=\"4\" y=\"18\">&#8593; ");
    pt_sanitize_html(d->out, y->key);
    pt_str_add(d->out, "</text>");
}

static int by_cost(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* Steps, not slopes: nothing is known between two runs. */
static void put_front(const struct drawing *d)
{
    PT_AUTO(pt_freep) double(*points)[2] = calloc(d->comparison->n + 1, sizeof *points);
    size_t n = 0;
    for (size_t i = 0; points && i < d->comparison->n; i++) {
        const struct pt_compared *run = &d->comparison->items[i];
        if (run->is_on_front) {
            points[n][0] = across(d, run->values[d->x.of]);
            points[n++][1] = up(d, run->values[d->y.of]);
        }
    }
    if (n < 2)
        return;
    qsort(points, n, sizeof *points, by_cost);
    pt_str_printf(d->out, "<path class=\"l s0\" d=\"M%.1f %.1f", points[0][0], points[0][1]);
    for (size_t i = 1; i < n; i++)
        pt_str_printf(d->out, "H%.1fV%.1f", points[i][0], points[i][1]);
    pt_str_add(d->out, "\"/>");
}

static void put_dots(const struct drawing *d)
{
    for (size_t i = 0; i < d->comparison->n; i++) {
        const struct pt_compared *run = &d->comparison->items[i];
        if (!is_drawn(d, run))
            continue;
        const double x = across(d, run->values[d->x.of]), y = up(d, run->values[d->y.of]);
        const bool is_left = x < WIDTH * 0.7;
        pt_str_printf(d->out, "<circle class=\"d s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"%d\"><title>",
                      run->is_on_front ? 0 : 1, x, y, run->is_on_front ? 6 : 4);
        pt_sanitize_html(d->out, run->name);
        pt_str_add(d->out, ": ");
        pt_sanitize_html(d->out, d->comparison->dimensions[d->y.of].key);
        pt_str_printf(d->out, " %.6g, %s %.6g%s</title></circle>", run->values[d->y.of],
                      d->comparison->dimensions[d->x.of].key, run->values[d->x.of],
                      run->is_on_front ? ", on the front" : "");
        pt_str_printf(d->out, "<text class=\"pk\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", is_left ? x + 9 : x - 9,
                      y - 7, is_left ? "start" : "end");
        pt_sanitize_html(d->out, run->name);
        pt_str_add(d->out, "</text>");
    }
}

int pt_front_svg(const struct pt_comparison *comparison, struct pt_str *out, struct pt_error *err)
{
    struct drawing d = {comparison, out, {.of = comparison->cost}, {.of = comparison->quality}};
    size_t n = 0;
    if (comparison->quality == PT_DIMENSION_NONE || comparison->cost == PT_DIMENSION_NONE)
        return pt_fail_code(err, 4,
                            "no two runs have a quality metric and a cost: a drawing of one against the other "
                            "needs a grade report (docs/configuration.md)");
    for (size_t i = 0; i < comparison->n; i++)
        n += is_drawn(&d, &comparison->items[i]);
    if (n < 2)
        return pt_fail_code(err, 4, "fewer than two runs have both %s and %s",
                            comparison->dimensions[comparison->quality].key,
                            comparison->dimensions[comparison->cost].key);
    fit(&d, &d.x);
    fit(&d, &d.y);
    pt_str_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"><style>",
                  WIDTH, HEIGHT, WIDTH, HEIGHT);
    pt_str_add(out, pt_svg_style);
    pt_str_add(out, "</style><rect width=\"100%\" height=\"100%\" style=\"fill:var(--bg)\"/>");
    put_axes(&d);
    put_front(&d);
    put_dots(&d);
    pt_str_add(out, "</svg>\n");
    return 0;
}
