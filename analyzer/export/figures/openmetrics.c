/* SPDX-License-Identifier: MIT
 *
 * openmetrics.c - figures of the report for Prometheus: a file for node_exporter's textfile collector, which is both of
 * Prometheus' text format and of OpenMetrics.
 *
 * So all of them are gauges, which both write alike, and carry no times, which the collector refuses. What is unknown
 * is left out.
 *
 * Owns: nothing. One thread. Never: writes a name that ends a line or a label.
 */
#include <stdlib.h>

#include "export/export.h"
#include "export/judged.h"
#include "export/out/put.h"
#include "facts/call_class.h"
#include "proftrace/events.h"
#include "report/grades.h"
#include "report/outcome.h"
#include "util/str.h"
#include "util/text/sanitize.h"

struct out {
    struct pt_str text;
    struct pt_judged_run *judged;
    const char *stage; /* the only one; NULL = all */
    const char *family;
};

struct label {
    const char *key, *value;
};

static void begin(struct out *out, const char *family, const char *help)
{
    pt_str_printf(&out->text, "# HELP proftrace_%s %s\n# TYPE proftrace_%s gauge\n", family, help, family);
    out->family = family;
}

static void put_label(struct pt_str *text, const struct label *label)
{
    struct pt_str clean = {0};
    pt_sanitize_terminal(&clean, label->value);
    pt_str_printf(text, "%s=\"", label->key);
    for (const char *at = pt_str_text(&clean); *at; at++) {
        if (*at == '"' || *at == '\\')
            pt_str_char(text, '\\');
        pt_str_char(text, *at);
    }
    pt_str_char(text, '"');
    pt_str_fini(&clean);
}

/* A value that is not known is no line. Labels without a key are none. */
static void put(struct out *out, struct label a, struct label b, struct pt_value value, double scale)
{
    char number[40];
    if (value.type != PT_VALUE_INTEGER && value.type != PT_VALUE_REAL)
        return;
    pt_str_printf(&out->text, "proftrace_%s", out->family);
    pt_str_add(&out->text, a.key ? "{" : "");
    if (a.key)
        put_label(&out->text, &a);
    if (b.key) {
        pt_str_char(&out->text, ',');
        put_label(&out->text, &b);
    }
    pt_str_add(&out->text, a.key ? "} " : " ");
    if (value.type == PT_VALUE_INTEGER && scale == 1)
        pt_str_bytes(&out->text, number, (size_t)(pt_put_i64(number, value.integer) - number));
    else
        pt_str_bytes(&out->text, number, (size_t)(pt_put_f64(number, pt_value_number(value) * scale) - number));
    pt_str_char(&out->text, '\n');
}

static struct label label(const char *key, const char *value)
{
    return (struct label){key, value};
}

static const struct label none;

/* ---- the run ---- */

static void put_run(struct out *out)
{
    const struct pt_profile *profile = &out->judged->profile;
    const struct pt_quality *quality = &profile->session->quality;
    const struct pt_run_info *run = out->judged->run;
    begin(out, "run_info", "The run that these figures are of.");
    put(out, label("run", profile->session->name),
        label("dataset", run && run->pipeline.dataset ? run->pipeline.dataset : ""), pt_integer(1), 1);
    begin(out, "run_start_timestamp_seconds", "When the run began, since 1970.");
    const pt_u64 traced_ns = profile->session->start_realtime_ns;
    const pt_u64 start_ns = run && run->start_realtime_ns ? run->start_realtime_ns : traced_ns;
    put(out, none, none, start_ns ? pt_real((double)start_ns / 1e9) : pt_unknown("nothing was traced"), 1);
    begin(out, "run_duration_seconds", "Wall time of the run.");
    put(out, none, none, pt_report_duration(profile), 1);
    begin(out, "run_processes", "Process images that were traced.");
    put(out, none, none, pt_integer(profile->session->n_processes), 1);
    begin(out, "run_events", "Events by what became of them.");
    put(out, label("state", "recorded"), none, pt_integer(quality->events), 1);
    put(out, label("state", "overwritten"), none, pt_report_lost(profile->session, quality->overwritten), 1);
    put(out, label("state", "dropped"), none, pt_report_lost(profile->session, quality->dropped), 1);
}

static void put_grades(struct out *out)
{
    struct pt_grade_list grades = {0};
    pt_grade_list(&out->judged->profile, &grades);
    if (pt_grades_are_wanted(&out->judged->profile)) {
        begin(out, "run_quality", "Quality that the pipeline reached, by its key in report.json.");
        for (size_t i = 0; i < grades.n; i++)
            put(out, label("key", grades.items[i].key), none, grades.items[i].value, 1);
    }
    free(grades.items);
}

/* ---- stages ---- */

static struct label stage_label(const struct out *out, pt_u32 stage)
{
    return label("stage", out->judged->profile.stages.items[stage].name);
}

/* A family: `line` writes what it has of each stage that is wanted. */
static void each_stage(struct out *out, void (*line)(struct out *out, pt_u32 stage, const void *what), const void *what)
{
    for (pt_u32 i = 0; i < out->judged->profile.stages.n; i++)
        if (pt_judged_run_wants(out->judged, out->stage, i))
            line(out, i, what);
}

static void put_status(struct out *out, pt_u32 stage, const void *what)
{
    static const char *const statuses[] = {"ok", "failed", "skipped", "timeout", "running"};
    const char *status = pt_report_stage_status(&out->judged->profile, stage, &out->judged->arena);
    (void)what;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        put(out, stage_label(out, stage), label("status", statuses[i]), pt_integer(!strcmp(status, statuses[i])), 1);
}

static void put_duration(struct out *out, pt_u32 stage, const void *what)
{
    (void)what;
    put(out, stage_label(out, stage), none, pt_report_stage_duration(&out->judged->profile, stage), 1);
}

/* Parts that add up: what was computed is a part of its own only where it is not known in which language. */
static void put_time(struct out *out, pt_u32 stage, const void *what)
{
    const struct pt_metrics *metrics = &out->judged->profile.metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const bool is_split = pt_metrics_get(metrics, scope, pt_time_parts[PT_PART_python].metric).type != PT_VALUE_UNKNOWN;
    (void)what;
    for (int part = 0; part < PT_PART__COUNT; part++)
        if (part != PT_PART_computing || !is_split)
            put(out, stage_label(out, stage), label("part", pt_time_parts[part].key),
                pt_metrics_get(metrics, scope, pt_time_parts[part].metric), 1);
}

static void put_outcomes(struct out *out)
{
    begin(out, "stage_status", "1 for how the stage ended, 0 for the other ways.");
    each_stage(out, put_status, NULL);
    begin(out, "stage_duration_seconds", "Wall time of the stage.");
    each_stage(out, put_duration, NULL);
    begin(out, "stage_time_seconds", "Where the wall time of the stage went: the parts add up.");
    each_stage(out, put_time, NULL);
}

/* Those that report.json has for processes, summed up. */
static const struct {
    const char *name;
    pt_u32 kind; /* or else of a class */
    enum pt_call_class class;
} calls[] = {
    {"open", PT_KIND_io_open, PT_CALL_NONE},
    {"read", 0, PT_CALL_READ},
    {"write", 0, PT_CALL_WRITE},
    {"copy", 0, PT_CALL_COPY},
    {"stat", PT_KIND_meta_stat, PT_CALL_NONE},
    {"stdio_read", PT_KIND_stdio_read, PT_CALL_NONE},
    {"stdio_write", PT_KIND_stdio_write, PT_CALL_NONE},
};

static struct pt_kind_totals call_totals(const struct out *out, pt_u32 stage, size_t call)
{
    struct pt_kind_totals sum = {0};
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const bool is_wanted =
            calls[call].class == PT_CALL_NONE ? kind == calls[call].kind : pt_call_class_of(kind) == calls[call].class;
        if (is_wanted) {
            const struct pt_kind_totals of_kind = pt_profile_stage_totals(&out->judged->profile, stage, kind);
            pt_kind_totals_add(&sum, &of_kind);
        }
    }
    return sum;
}

enum figure { CALLS, ERRORS, BYTES, SECONDS };

static struct pt_value figure_of(const struct pt_kind_totals *totals, enum figure figure)
{
    return figure == CALLS    ? pt_integer(totals->calls)
           : figure == ERRORS ? pt_integer(totals->errors)
           : figure == BYTES  ? pt_integer(totals->bytes)
                              : pt_seconds((pt_i64)totals->ns);
}

static void put_call(struct out *out, pt_u32 stage, const void *what)
{
    const enum figure *figure = what;
    if (pt_profile_counters_missing(&out->judged->profile, stage))
        return;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct pt_kind_totals totals = call_totals(out, stage, i);
        if (totals.calls)
            put(out, stage_label(out, stage), label("call", calls[i].name), figure_of(&totals, *figure), 1);
    }
}

static void put_calls(struct out *out)
{
    static const struct {
        enum figure figure;
        const char *name, *help;
    } families[] = {{CALLS, "stage_calls", "Calls of the stage that work on files."},
                    {ERRORS, "stage_call_errors", "Of these calls, those that failed."},
                    {BYTES, "stage_call_bytes", "Bytes that these calls moved."},
                    {SECONDS, "stage_call_seconds", "Time within these calls, of all threads."}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        begin(out, families[i].name, families[i].help);
        each_stage(out, put_call, &families[i].figure);
    }
}

struct family {
    const char *name, *metric, *help;
    double scale;
};

static void put_metric(struct out *out, pt_u32 stage, const void *what)
{
    const struct family *family = what;
    put(out, stage_label(out, stage), none,
        pt_metrics_get(&out->judged->profile.metrics, pt_scope_stage(stage), family->metric), family->scale);
}

static void put_families(struct out *out)
{
    static const struct family families[] = {
#define FAMILY(name, metric, scale, help) {#name, metric, help, scale},
#include "families.def"
#undef FAMILY
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        begin(out, families[i].name, families[i].help);
        each_stage(out, put_metric, &families[i]);
    }
}

/* `what` is the key of a column. */
static void put_range(struct out *out, pt_u32 stage, const void *what)
{
    const struct pt_table *ranges = pt_view_rows(&out->judged->profile.metrics, stage, PT_VIEW_ranges);
    for (size_t row = 0; ranges && row < ranges->n_rows; row++)
        put(out, stage_label(out, stage), label("range", pt_table_cell(ranges, row, "name").text),
            pt_table_cell(ranges, row, what), 1);
}

static void put_ranges(struct out *out)
{
    static const char *const families[][3] = {
        {"range_calls", "calls", "How often a range of the program ran."},
        {"range_seconds", "total_s", "Time within a range, of all calls."},
        {"range_p50_seconds", "p50_s", "Median time of a call of a range."},
        {"range_p95_seconds", "p95_s", "Time that 95 of 100 calls of a range stay below."},
        {"range_p99_seconds", "p99_s", "Time that 99 of 100 calls of a range stay below."},
        {"range_sla_seconds", "sla_s", "What the program promised for a call of a range."},
        {"range_sla_violations", "violations", "Calls of a range that took longer than promised."}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        begin(out, families[i][0], families[i][2]);
        each_stage(out, put_range, families[i][1]);
    }
}

static void put_findings(struct out *out)
{
    const struct pt_findings *findings = &out->judged->findings;
    const struct pt_stage *stages = out->judged->profile.stages.items;
    begin(out, "finding_gain_seconds", "What a finding of the report could gain at most.");
    for (size_t i = 0; i < findings->n; i++) {
        const struct pt_finding *finding = &findings->items[i];
        const bool is_shown =
            finding->stage < 0 || pt_judged_run_wants(out->judged, out->stage, (pt_u32)finding->stage);
        if (is_shown && !finding->is_observation)
            put(out, label("rule", finding->rule),
                label("stage", finding->stage < 0 ? "" : stages[finding->stage].name), pt_real(finding->gain_upper_s),
                1);
    }
}

int pt_export_openmetrics(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                          struct pt_export_summary *ret_summary, struct pt_error *err)
{
    struct pt_judged_run judged = {0};
    struct out out = {.judged = &judged, .stage = options->filter.stage};
    *ret_summary = (struct pt_export_summary){.processes = session->n_processes};
    int result = pt_judged_run_open(&judged, session, options->since_ns, err);
    if (!result)
        result = pt_judged_run_need_stage(&judged, options->filter.stage, err);
    if (!result) {
        put_run(&out);
        put_grades(&out);
        put_outcomes(&out);
        put_calls(&out);
        put_families(&out);
        put_ranges(&out);
        put_findings(&out);
        pt_str_add(&out.text, "# EOF\n");
        pt_sink_put(sink, pt_str_text(&out.text), out.text.n);
    }
    pt_str_fini(&out.text);
    pt_judged_run_close(&judged);
    return result;
}
