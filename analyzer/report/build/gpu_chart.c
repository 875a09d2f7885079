/* SPDX-License-Identifier: MIT
 *
 * Owns: how much memory of each GPU was in use when, and how it was allocated: charts over the run. Threads: one.
 * Never: draws a line where no stage recorded GPU memory.
 */
#include "gpu_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/window.h"
#include "profile/open.h"

static const struct pt_table *points_of(const struct pt_build *b, pt_u32 stage)
{
    return pt_view_rows(&b->profile->metrics, stage, PT_VIEW_gpu_memory_over_time);
}

/* ---- charts ---- */

/* A chart has this many cells across; its curves have a value in each, NAN where nothing is known. */
enum { CELLS = 240 };

struct grid {
    const struct pt_build *b;
    double origin_s, end_s; /* of the run's time */
};

/* Instant 0 of the traces, in the run's time: the launcher began a little earlier. */
static double offset_s(const struct pt_build *b)
{
    const struct pt_run_info *run = b->profile->run;
    const double ns = run ? pt_run_clock_ahead_ns(run, b->profile->session) : 0;
    return fabs(ns) < (double)pt_profile_wall_ns(b->profile) ? ns / 1e9 : 0;
}

static double start_of(const struct pt_build *b, pt_u32 stage)
{
    return (double)b->profile->stages.items[stage].start_ns / 1e9 + offset_s(b);
}

static struct grid grid_of(const struct pt_build *b)
{
    const double window_s =
        pt_session_is_window(b->profile->session) ? (double)b->profile->session->window_from_ns / 1e9 + offset_s(b) : 0;
    struct grid grid = {.b = b, .origin_s = window_s, .end_s = (double)pt_profile_wall_ns(b->profile) / 1e9};
    const bool is_of_one = b->options->stage || (b->profile->run && b->profile->run->n_stages == 1);
    for (pt_u32 i = 0; is_of_one && i < b->profile->stages.n; i++)
        if (pt_build_wants(b, i)) {
            const struct pt_run_stage *run = pt_profile_run_of(b->profile, i);
            grid.origin_s = run && run->start_ns > 0 ? run->start_ns / 1e9 : start_of(b, i);
            grid.end_s = (double)pt_profile_stage_wall_ns(b->profile, i) / 1e9;
        }
    return grid;
}

static double *empty_cells(const struct grid *grid)
{
    double *cells = pt_arena_alloc(&grid->b->doc->arena, CELLS * sizeof *cells);
    for (int i = 0; i < CELLS; i++)
        cells[i] = NAN;
    return cells;
}

/* A point's share of each cell: the level as it is, an amount as a rate. */
static void spread(const struct grid *grid, double *cells, double from_s, double seconds, double value, bool is_amount)
{
    const double width_s = grid->end_s / CELLS, to_s = from_s + seconds;
    for (int i = (int)fmax(from_s / width_s, 0); i < CELLS && i * width_s < to_s; i++) {
        const double common_s = fmin(to_s, (i + 1) * width_s) - fmax(from_s, i * width_s);
        if (common_s <= 0)
            continue;
        if (is_amount)
            cells[i] = (isnan(cells[i]) ? 0 : cells[i]) + value * common_s / seconds / width_s;
        else
            cells[i] = fmax(cells[i], value);
    }
}

struct curve {
    const char *label, *column; /* of gpu.memory_over_time */
    double device;              /* NAN = all together */
    bool is_amount;             /* shown as a rate; else it is a level */
};

/* Adds a stage to the cells: a column of its points, of one device or of all. */
static void add_stage(const struct grid *grid, double *cells, pt_u32 stage, const struct curve *curve)
{
    double own[CELLS];
    const struct pt_table *table = pt_build_wants(grid->b, stage) ? points_of(grid->b, stage) : NULL;
    for (int i = 0; i < CELLS; i++)
        own[i] = NAN;
    for (size_t row = 0; table && row < table->n_rows; row++)
        if (isnan(curve->device) || pt_table_number(table, row, "device") == curve->device)
            spread(grid, own, start_of(grid->b, stage) - grid->origin_s + pt_table_number(table, row, "t_s"),
                   pt_table_number(table, row, "seconds"), pt_table_number(table, row, curve->column),
                   curve->is_amount);
    for (int i = 0; i < CELLS; i++)
        cells[i] = isnan(own[i]) ? cells[i] : isnan(cells[i]) ? own[i] : cells[i] + own[i];
}

static void add_series(const struct grid *grid, struct pt_chart *chart, struct curve curve)
{
    struct pt_chart_series series = {.label = pt_doc_text(grid->b->doc, curve.label),
                                     .t_s = empty_cells(grid),
                                     .values = empty_cells(grid),
                                     .n = CELLS};
    for (int i = 0; i < CELLS; i++)
        series.t_s[i] = (i + .5) * grid->end_s / CELLS;
    for (pt_u32 stage = 0; stage < grid->b->profile->stages.n; stage++)
        add_stage(grid, series.values, stage, &curve);
    chart->series[chart->n_series++] = series;
}

static struct pt_chart *new_chart(const struct grid *grid, const char *name, const char *title, enum pt_show show)
{
    const struct pt_profile *profile = grid->b->profile;
    struct pt_chart *chart = pt_doc_chart(grid->b->doc, name, title, show);
    chart->end_s = grid->end_s;
    chart->bands = pt_arena_alloc(&grid->b->doc->arena, (profile->stages.n + 1) * sizeof *chart->bands);
    for (pt_u32 i = 0; i < profile->stages.n; i++) {
        const struct pt_run_stage *run = pt_profile_run_of(profile, i);
        const double start_s =
            (run && run->start_ns >= 0 ? run->start_ns / 1e9 : start_of(grid->b, i)) - grid->origin_s;
        const double seconds = (double)pt_profile_stage_wall_ns(profile, i) / 1e9;
        if (pt_build_wants(grid->b, i) && seconds > 0 && start_s < grid->end_s)
            chart->bands[chart->n_bands++] = (struct pt_chart_band){profile->stages.items[i].name, fmax(start_s, 0),
                                                                    fmin(start_s + seconds, grid->end_s)};
    }
    return chart;
}

/* ---- which GPUs ---- */

struct fullness {
    double device, peak_bytes;
    bool has_pools;
};

static int by_peak(const void *a, const void *b)
{
    const struct fullness *x = a, *y = b;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? 1 : -1;
    return (x->device > y->device) - (x->device < y->device);
}

static int by_device(const void *a, const void *b)
{
    const struct fullness *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

struct fullest {
    PT_VEC(struct fullness);
};

static void find_devices(const struct pt_build *b, struct fullest *all)
{
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++) {
        const struct pt_table *table = pt_build_wants(b, stage) ? points_of(b, stage) : NULL;
        for (size_t row = 0; table && row < table->n_rows; row++) {
            size_t at = 0;
            while (at < all->n && all->items[at].device != pt_table_number(table, row, "device"))
                at++;
            if (at == all->n)
                pt_vec_push(all, ((struct fullness){.device = pt_table_number(table, row, "device")}));
            all->items[at].peak_bytes = fmax(all->items[at].peak_bytes, pt_table_number(table, row, "bytes"));
            all->items[at].has_pools |= pt_table_number(table, row, "pools_bytes") > 0;
        }
    }
}

void pt_build_gpu_charts(const struct pt_build *b)
{
    const struct grid grid = grid_of(b);
    struct fullest all = {0};
    char text[96];
    find_devices(b, &all);
    if (!all.n || grid.end_s <= 0) {
        free(all.items);
        return;
    }
    const size_t n = all.n < PT_CHART_MOST_SERIES ? all.n : PT_CHART_MOST_SERIES;
    qsort(all.items, all.n, sizeof *all.items, by_peak);
    qsort(all.items, n, sizeof *all.items, by_device);
    snprintf(text, sizeof text, "GPU memory that the program allocated (the fullest %zu of %zu GPUs)", n, all.n);
    struct pt_chart *chart = new_chart(&grid, "gpu_memory_allocated",
                                       n < all.n ? text : "GPU memory that the program allocated", PT_SHOW_BYTES);
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "GPU %.0f", all.items[i].device);
        add_series(&grid, chart, (struct curve){text, "bytes", all.items[i].device, false});
    }
    for (size_t i = 0; i < n && chart->n_series < PT_CHART_MOST_SERIES; i++)
        if (all.items[i].has_pools) {
            snprintf(text, sizeof text, "GPU %.0f: size of its pools", all.items[i].device);
            add_series(&grid, chart, (struct curve){text, "pools_bytes", all.items[i].device, false});
        }
    free(all.items);
    chart = new_chart(&grid, "gpu_allocations", "Allocations of GPU memory", PT_SHOW_NUMBER);
    chart->unit = "/s";
    add_series(&grid, chart, (struct curve){"allocations", "allocations", NAN, true});
    add_series(&grid, chart, (struct curve){"releases", "releases", NAN, true});
    chart = new_chart(&grid, "gpu_allocated_bytes", "GPU memory allocated and released", PT_SHOW_BYTES_PER_SECOND);
    add_series(&grid, chart, (struct curve){"allocated", "allocated_bytes", NAN, true});
    add_series(&grid, chart, (struct curve){"released", "released_bytes", NAN, true});
}
