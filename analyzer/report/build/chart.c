/* SPDX-License-Identifier: MIT
 *
 * Owns: which samples of a run become which chart. Threads: one. Never: bridges a gap: what was not sampled is NAN, in
 * a stage as between stages.
 */
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/window.h"
#include "profile/open.h"

/* A series: a resource times `scale`; one that counts up becomes a rate. */
struct source {
    enum pt_resource resource;
    const char *label;
    double scale;
    bool sparse; /* sampled less often than the others: its points are still joined by lines */
};

static const struct spec {
    const char *name, *title, *unit;
    enum pt_show show;
    struct source sources[PT_CHART_MOST_SERIES];
} specs[] = {
    {"cpu", "CPU (1 core = 100 %)", "cores", PT_SHOW_NUMBER, {{PT_RESOURCE_cpu_percent, "used", .01, false}}},
    {"memory",
     "Memory",
     NULL,
     PT_SHOW_BYTES,
     {{PT_RESOURCE_rss_bytes, "RSS", 1, false}, {PT_RESOURCE_pss_bytes, "PSS", 1, true}}},
    {"disk",
     "Disk",
     NULL,
     PT_SHOW_BYTES_PER_SECOND,
     {{PT_RESOURCE_disk_read_bytes, "read", 1, false}, {PT_RESOURCE_disk_write_bytes, "written", 1, false}}},
    {"network",
     "Network",
     NULL,
     PT_SHOW_BYTES_PER_SECOND,
     {{PT_RESOURCE_net_receive_bytes, "received", 1, false},
      {PT_RESOURCE_net_send_bytes, "sent", 1, false},
      {PT_RESOURCE_net_loopback_bytes, "loopback", 1, false}}},
    {"gpu",
     "GPU utilisation",
     NULL,
     PT_SHOW_PERCENT,
     {{PT_RESOURCE_gpu_util_percent, "busy", 1, false}, {PT_RESOURCE_gpu_throttled_percent, "throttled", 1, false}}},
    {"gpu_memory", "GPU memory", NULL, PT_SHOW_BYTES, {{PT_RESOURCE_gpu_mem_bytes, "in use", 1, false}}},
    {"gpu_power", "GPU power", "W", PT_SHOW_NUMBER, {{PT_RESOURCE_gpu_power_w, "drawn", 1, false}}},
    {"pressure",
     "Pressure (time in which some task waited)",
     NULL,
     PT_SHOW_PERCENT,
     {{PT_RESOURCE_cpu_pressure_percent, "for a CPU", 1, false},
      {PT_RESOURCE_io_pressure_percent, "for I/O", 1, false},
      {PT_RESOURCE_memory_pressure_percent, "for memory", 1, false}}},
};

/* A century; later is damage. */
static const double LONGEST_S = 3e9;

struct chart_build {
    const struct pt_build *b;
    const struct pt_run_info *run;
    double origin_s; /* where the time axis begins, in the run's time: with a command, or one stage */
};

static double start_of(const struct pt_run_stage *stage)
{
    return stage->start_ns > 0 && stage->start_ns < LONGEST_S * 1e9 ? stage->start_ns / 1e9 : 0;
}

static bool wants(const struct chart_build *c, const struct pt_run_stage *stage)
{
    const char *only = c->b->options->stage;
    return stage->n_samples && (!only || (stage->name && !strcmp(only, stage->name)));
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* A longer distance between two samples than this is a gap: the sampler was kept from running. */
static double longest_distance(const struct pt_run_stage *stage)
{
    if (stage->n_samples < 3)
        return INFINITY;
    const pt_u32 n = stage->n_samples - 1;
    double *distances = pt_calloc(n, sizeof *distances);
    for (pt_u32 i = 0; i < n; i++)
        distances[i] = stage->sample_t_s[i + 1] - stage->sample_t_s[i];
    qsort(distances, n, sizeof *distances, by_value);
    const double median = distances[n / 2];
    free(distances);
    return 3 * median;
}

/* A damaged run.json may have any number; a chart of it would be useless. */
static double sane(double number)
{
    const double largest = 1e18;
    return number >= 0 && number <= largest ? number : NAN;
}

static double value_at(const struct pt_run_stage *stage, const struct source *source, pt_u32 i)
{
    const double *samples = stage->resources[source->resource].samples;
    if (!samples)
        return NAN;
    if (pt_resources[source->resource].merge != PT_MERGE_TOTAL)
        return sane(source->scale * samples[i]);
    const double before = i ? samples[i - 1] : 0, before_s = i ? stage->sample_t_s[i - 1] : 0;
    const double elapsed_s = stage->sample_t_s[i] - before_s;
    return elapsed_s > 0 && samples[i] >= before ? sane(source->scale * (samples[i] - before) / elapsed_s) : NAN;
}

static void push(struct pt_chart_series *series, double t_s, double value)
{
    series->t_s[series->n] = t_s;
    series->values[series->n++] = value;
}

static void add_samples(const struct chart_build *c, struct pt_chart_series *series, const struct source *source,
                        const struct pt_run_stage *stage)
{
    const double start_s = start_of(stage) - c->origin_s, longest = longest_distance(stage);
    push(series, start_s, NAN);
    double last_s = NAN;
    for (pt_u32 i = 0; i < stage->n_samples; i++) {
        const double t_s = stage->sample_t_s[i], value = value_at(stage, source, i);
        if (!(t_s >= 0 && t_s < LONGEST_S))
            continue;
        if (t_s - last_s > longest)
            push(series, start_s + (t_s + last_s) / 2, NAN);
        if (!source->sparse || isfinite(value))
            push(series, start_s + t_s, value);
        last_s = t_s;
    }
}

static void add_series(const struct chart_build *c, struct pt_chart *chart, const struct source *source)
{
    struct pt_arena *arena = &c->b->doc->arena;
    size_t most = 0;
    bool known = false;
    for (pt_u32 i = 0; i < c->run->n_stages; i++)
        most += wants(c, &c->run->stages[i]) ? 2 * (size_t)c->run->stages[i].n_samples + 1 : 0;
    struct pt_chart_series series = {
        .label = source->label,
        .t_s = pt_arena_alloc(arena, most * sizeof(double) + 1),
        .values = pt_arena_alloc(arena, most * sizeof(double) + 1),
    };
    for (pt_u32 i = 0; i < c->run->n_stages; i++)
        if (wants(c, &c->run->stages[i]))
            add_samples(c, &series, source, &c->run->stages[i]);
    for (pt_u32 i = 0; i < series.n && !known; i++)
        known = isfinite(series.values[i]);
    if (!known)
        return;
    chart->series[chart->n_series++] = series;
    if (series.t_s[series.n - 1] > chart->end_s)
        chart->end_s = series.t_s[series.n - 1];
}

static void add_bands(const struct chart_build *c, struct pt_chart *chart)
{
    const char *only = c->b->options->stage;
    chart->bands = pt_arena_alloc(&c->b->doc->arena, (c->run->n_stages + 1) * sizeof *chart->bands);
    for (pt_u32 i = 0; i < c->run->n_stages; i++) {
        const struct pt_run_stage *stage = &c->run->stages[i];
        if (!(stage->duration_ns > 0 && stage->duration_ns < LONGEST_S * 1e9) || !stage->name ||
            (only && strcmp(only, stage->name)))
            continue;
        const double start_s = start_of(stage) - c->origin_s, end_s = start_s + stage->duration_ns / 1e9;
        chart->bands[chart->n_bands++] =
            (struct pt_chart_band){pt_arena_text(&c->b->doc->arena, stage->name, strlen(stage->name)), start_s, end_s};
        chart->end_s = end_s > chart->end_s ? end_s : chart->end_s;
    }
}

static bool has_any(const struct chart_build *c, const struct spec *spec)
{
    for (pt_u32 i = 0; i < c->run->n_stages; i++)
        for (size_t j = 0; j < PT_CHART_MOST_SERIES && spec->sources[j].label; j++)
            for (pt_u32 k = 0; wants(c, &c->run->stages[i]) && k < c->run->stages[i].n_samples; k++)
                if (isfinite(value_at(&c->run->stages[i], &spec->sources[j], k)))
                    return true;
    return false;
}

static void add_chart(const struct chart_build *c, const struct spec *spec)
{
    if (!has_any(c, spec))
        return;
    struct pt_chart *chart = pt_doc_chart(c->b->doc, spec->name, spec->title, spec->show);
    chart->unit = spec->unit;
    add_bands(c, chart);
    for (size_t i = 0; i < PT_CHART_MOST_SERIES && spec->sources[i].label; i++)
        add_series(c, chart, &spec->sources[i]);
    if (!strcmp(spec->name, "cpu"))
        chart->limit = pt_profile_usable_cpus(c->b->profile);
    if (!strcmp(spec->name, "memory"))
        chart->limit = c->run->memory_bytes;
}

/* In the run's time, as the stages' starts: those of a page begin where the window does. */
static double window_start_s(const struct pt_build *b)
{
    const struct pt_session *session = b->profile->session;
    return ((double)session->window_from_ns + pt_run_clock_ahead_ns(b->profile->run, session)) / 1e9;
}

void pt_build_charts(const struct pt_build *b)
{
    struct chart_build c = {.b = b, .run = b->profile->run};
    if (c.run && pt_session_is_window(b->profile->session))
        c.origin_s = window_start_s(b);
    const bool is_of_one = b->options->stage || (c.run && c.run->n_stages == 1);
    for (pt_u32 i = 0; c.run && is_of_one && i < c.run->n_stages; i++)
        if (wants(&c, &c.run->stages[i]))
            c.origin_s = start_of(&c.run->stages[i]);
    for (size_t i = 0; c.run && i < sizeof specs / sizeof *specs; i++)
        add_chart(&c, &specs[i]);
}
