/* SPDX-License-Identifier: MIT
 *
 * Owns: which of the totals by time become which chart. Threads: one. Never: draws a line where no stage has any, or
 * between two stages.
 */
#include "minute_chart.h"

#include <math.h>

static const struct spec {
    const char *name, *title, *unit;
    enum pt_show show;
    struct {
        const char *column, *label;
    } series[PT_CHART_MOST_SERIES];
} specs[] = {
    {"calls", "Calls (all totals)", "/s", PT_SHOW_NUMBER, {{"calls", "calls"}, {"errors", "failed"}}},
    {"file_bytes",
     "Bytes read and written by calls (all totals)",
     NULL,
     PT_SHOW_BYTES_PER_SECOND,
     {{"read_bytes", "read"}, {"write_bytes", "written"}}},
    {"steps", "Training steps (all totals)", "/s", PT_SHOW_NUMBER, {{"steps", "steps"}}},
};

static const struct pt_table *rows_of(const struct pt_build *b, pt_u32 stage)
{
    return pt_build_wants(b, stage) ? pt_view_rows(&b->profile->metrics, stage, PT_VIEW_minutes) : NULL;
}

/* Where the time axis begins: with the run, or with the one stage that is asked for. */
static double origin_s(const struct pt_build *b)
{
    for (pt_u32 i = 0; b->options->stage && i < b->profile->stages.n; i++)
        if (pt_build_wants(b, i))
            return (double)b->profile->stages.items[i].start_ns / 1e9;
    return 0;
}

/* As rates, a point in the middle of each row; false = all of them are 0. */
static bool fill(const struct pt_build *b, struct pt_chart_series *series, const char *column)
{
    bool is_known = false;
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++) {
        const struct pt_table *table = rows_of(b, stage);
        const double start_s = (double)b->profile->stages.items[stage].start_ns / 1e9 - origin_s(b);
        for (size_t row = 0; table && row < table->n_rows; row++) {
            const bool has = pt_table_cell(table, row, column).type != PT_VALUE_UNKNOWN;
            const double seconds = pt_table_number(table, row, "seconds");
            const double value = has ? pt_table_number(table, row, column) / seconds : NAN;
            series->t_s[series->n] = start_s + pt_table_number(table, row, "at_s") + seconds / 2;
            series->values[series->n++] = value;
            is_known |= value > 0;
        }
        if (!table || !table->n_rows)
            continue;
        const size_t last = table->n_rows - 1;
        series->t_s[series->n] =
            start_s + pt_table_number(table, last, "at_s") + pt_table_number(table, last, "seconds");
        series->values[series->n++] = NAN;
    }
    return is_known;
}

static void add_bands(const struct pt_build *b, struct pt_chart *chart)
{
    const double origin = origin_s(b);
    chart->bands = pt_arena_alloc(&b->doc->arena, (b->profile->stages.n + 1) * sizeof *chart->bands);
    for (pt_u32 i = 0; i < b->profile->stages.n; i++) {
        const struct pt_stage *stage = &b->profile->stages.items[i];
        const double start_s = (double)stage->start_ns / 1e9 - origin, end_s = (double)stage->end_ns / 1e9 - origin;
        if (!pt_build_wants(b, i) || end_s <= start_s)
            continue;
        chart->bands[chart->n_bands++] = (struct pt_chart_band){stage->name, start_s, end_s};
        chart->end_s = fmax(chart->end_s, end_s);
    }
}

static void add_chart(const struct pt_build *b, const struct spec *spec, size_t most)
{
    struct pt_chart_series found[PT_CHART_MOST_SERIES];
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < PT_CHART_MOST_SERIES && spec->series[i].column; i++) {
        found[n] = (struct pt_chart_series){.label = spec->series[i].label,
                                            .t_s = pt_arena_alloc(&b->doc->arena, most * sizeof(double)),
                                            .values = pt_arena_alloc(&b->doc->arena, most * sizeof(double))};
        n += fill(b, &found[n], spec->series[i].column);
    }
    if (!n)
        return;
    struct pt_chart *chart = pt_doc_chart(b->doc, spec->name, spec->title, spec->show);
    chart->unit = spec->unit;
    add_bands(b, chart);
    for (pt_u32 i = 0; i < n; i++)
        chart->series[chart->n_series++] = found[i];
}

void pt_build_minute_charts(const struct pt_build *b)
{
    size_t most = 0;
    for (pt_u32 stage = 0; stage < b->profile->stages.n; stage++) {
        const struct pt_table *table = rows_of(b, stage);
        most += table ? table->n_rows + 1 : 0;
    }
    for (size_t i = 0; most && i < sizeof specs / sizeof *specs; i++)
        add_chart(b, &specs[i], most);
}
