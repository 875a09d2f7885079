/* SPDX-License-Identifier: MIT
 *
 * Owns: report.json as a whole: its head, findings, failures and the quality of the trace. Threads: any. Never: writes
 * what people are shown: it is the profile, in base units.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/window.h"
#include "profile/views.h"
#include "report/grades.h"
#include "report/log_tail.h"
#include "report/outcome.h"
#include "report/render.h"
#include "report/untraced.h"
#include "util/auto.h"
#include "util/whole.h"
#include "process.h"
#include "report.h"
#include "stage.h"
#include "value.h"

/* ---- head ---- */

/* Where it ran: without it two reports cannot be compared. */
static void put_machine(const struct pt_report_json *r)
{
    const struct pt_value no_launcher = pt_unknown("no launcher noted it");
    const struct pt_run_info *run = r->profile->run;
    pt_json_value(r->json, "host", PT_SHOW_TEXT, run && run->host ? pt_text(run->host) : no_launcher);
    pt_json_value(r->json, "git_commit", PT_SHOW_TEXT, pt_report_commit(r->profile, r->arena));
    pt_json_object(r->json, "machine");
    pt_json_value(r->json, "cpus", PT_SHOW_COUNT, run && run->cpus > 0 ? pt_integer(pt_whole(run->cpus)) : no_launcher);
    const double usable = pt_profile_usable_cpus(r->profile);
    pt_json_value(r->json, "cpus_usable", PT_SHOW_COUNT, usable > 0 ? pt_integer(pt_whole(usable)) : no_launcher);
    pt_json_value(r->json, "memory_bytes", PT_SHOW_BYTES,
                  run && run->memory_bytes > 0 ? pt_integer(pt_whole(run->memory_bytes)) : no_launcher);
    pt_json_end(r->json);
}

static void put_head(const struct pt_report_json *r)
{
    const struct pt_run_info *run = r->profile->run;
    const struct pt_value no_pipeline =
        pt_unknown(run && run->is_pipeline ? "the configuration does not say" : "not run as a pipeline");
    const double epochs = run ? run->pipeline.train_epochs : NAN;
    pt_json_text(r->json, "schema_version", "1.0");
    pt_json_text(r->json, "tool", "proftrace " PROFTRACE_VERSION);
    pt_json_text(r->json, "run", r->profile->session->name);
    pt_json_value(r->json, "timestamp_utc", PT_SHOW_TEXT, pt_report_started(r->profile, r->arena));
    pt_json_value(r->json, "dataset", PT_SHOW_TEXT,
                  run && run->pipeline.dataset ? pt_text(run->pipeline.dataset) : no_pipeline);
    pt_json_value(r->json, "train_epochs", PT_SHOW_COUNT, epochs > 0 ? pt_integer(pt_whole(epochs)) : no_pipeline);
    pt_json_value(r->json, "total_duration_s", PT_SHOW_SECONDS, pt_report_duration(r->profile));
    if (pt_session_is_window(r->profile->session)) {
        const struct pt_session *session = r->profile->session;
        pt_json_object(r->json, "window");
        pt_json_value(r->json, "from_s", PT_SHOW_SECONDS, pt_seconds(session->window_from_ns));
        pt_json_value(r->json, "until_s", PT_SHOW_SECONDS, pt_seconds(session->duration_ns));
        pt_json_end(r->json);
    }
    put_machine(r);
}

/* ---- quality that the pipeline reached ---- */

static void put_grades(const struct pt_report_json *r)
{
    struct pt_grade_list grades = {0};
    pt_grade_list(r->profile, &grades);
    pt_json_object(r->json, "quality_metrics");
    for (size_t i = 0; i < grades.n; i++)
        pt_json_value(r->json, grades.items[i].key, PT_SHOW_NUMBER, grades.items[i].value);
    pt_json_end(r->json);
    if (r->profile->run && r->profile->run->pipeline.quality_read_from)
        pt_json_text(r->json, "quality_file", r->profile->run->pipeline.quality_read_from);
    if (r->profile->run && r->profile->run->is_pipeline) {
        pt_json_array(r->json, "quality_floors_broken");
        for (size_t i = 0; i < grades.n; i++) {
            if (!pt_grade_is_broken(&grades.items[i]))
                continue;
            pt_json_object(r->json, NULL);
            pt_json_text(r->json, "key", grades.items[i].key);
            pt_json_value(r->json, "value", PT_SHOW_NUMBER, grades.items[i].value);
            pt_json_value(r->json, "min", PT_SHOW_NUMBER, pt_real(grades.items[i].min));
            pt_json_end(r->json);
        }
        pt_json_end(r->json);
    }
    free(grades.items);
}

/* ---- failures ---- */

static void put_failure(const struct pt_report_json *r, const struct pt_run_stage *stage)
{
    const struct pt_log_tail tail = pt_log_tail(r->profile->session->path, stage->log, r->arena);
    pt_json_object(r->json, NULL);
    pt_json_text(r->json, "stage", stage->name);
    pt_json_text(r->json, "reason", stage->reason ? stage->reason : stage->exit);
    pt_json_value(r->json, "log", PT_SHOW_TEXT,
                  stage->log ? pt_text(stage->log) : pt_unknown("its output was not kept"));
    pt_json_array(r->json, "log_tail");
    for (unsigned i = 0; i < tail.n; i++)
        pt_json_text(r->json, NULL, tail.lines[i]);
    pt_json_end(r->json);
    const char *stacks[PT_RUN_STUCK_LINES];
    const unsigned n = pt_stack_lines(stage->stacks, stacks, r->arena);
    if (n)
        pt_json_array(r->json, "stacks");
    for (unsigned i = 0; i < n; i++)
        pt_json_text(r->json, NULL, stacks[i]);
    if (n)
        pt_json_end(r->json);
    pt_json_end(r->json);
}

static void put_failures(const struct pt_report_json *r)
{
    const struct pt_run_info *run = r->profile->run;
    if (!run)
        return;
    pt_json_array(r->json, "failures");
    for (pt_u32 i = 0; i < run->n_stages; i++)
        if (pt_run_stage_failed(&run->stages[i]) && (!r->stage || !strcmp(r->stage, run->stages[i].name)))
            put_failure(r, &run->stages[i]);
    pt_json_end(r->json);
}

/* ---- findings ---- */

/* Evidence is quoted: words are as people read them. */
static void put_evidence_row(const struct pt_report_json *r, const struct pt_table *table, const struct pt_value *cells)
{
    pt_json_object(r->json, NULL);
    for (pt_u32 i = 0; i < table->n_columns; i++) {
        const bool is_text = cells[i].type == PT_VALUE_TEXT;
        pt_json_cell(r->json, &table->columns[i], is_text ? pt_text(pt_value_label(cells[i])) : cells[i]);
    }
    pt_json_end(r->json);
}

static void put_evidence(const struct pt_report_json *r, const struct pt_finding *finding)
{
    const struct pt_table *table = finding->table;
    pt_json_object(r->json, "evidence");
    for (pt_u32 i = 0; i < finding->n_evidence; i++)
        pt_json_value(r->json, finding->evidence[i].key, finding->evidence[i].show, finding->evidence[i].value);
    if (table && finding->n_rows) {
        const char *name = pt_table_views[table->view].name, *dot = strrchr(name, '.');
        pt_json_array(r->json, dot ? dot + 1 : name);
        for (pt_u32 i = 0; i < finding->n_rows; i++)
            put_evidence_row(r, table, pt_table_row(table, finding->rows[i]));
        pt_json_end(r->json);
    }
    pt_json_end(r->json);
}

static struct pt_value known(const char *text, const char *reason)
{
    return text ? pt_text(text) : pt_unknown(reason);
}

static void put_place(const struct pt_report_json *r, const struct pt_place *place)
{
    const char *why = place->reason ? place->reason : "no debug information";
    const bool is_python = place->function && place->language && !strcmp(place->language, "python");
    pt_json_object(r->json, "place");
    pt_json_value(r->json, "function", PT_SHOW_TEXT, known(place->function, why));
    pt_json_value(r->json, "file", PT_SHOW_TEXT, known(place->file, why));
    pt_json_value(r->json, "line", PT_SHOW_COUNT, place->line ? pt_integer(place->line) : pt_unknown(why));
    pt_json_value(r->json, "module", PT_SHOW_TEXT, known(place->module, is_python ? "it is Python: see file" : why));
    pt_json_value(r->json, "language", PT_SHOW_TEXT, known(place->language, why));
    pt_json_end(r->json);
}

static void put_finding(const struct pt_report_json *r, const struct pt_finding *finding)
{
    const struct pt_stages *stages = &r->profile->stages;
    pt_json_object(r->json, NULL);
    pt_json_text(r->json, "rule", finding->rule);
    pt_json_text(r->json, "severity", pt_severity_name(finding->severity));
    if (finding->is_observation) {
        pt_json_value(r->json, "time_s", PT_SHOW_SECONDS, pt_real(finding->time_s));
        pt_json_value(r->json, "time_percent", PT_SHOW_PERCENT, pt_real(finding->time_percent));
    } else {
        pt_json_value(r->json, "gain_upper_s", PT_SHOW_SECONDS, pt_real(finding->gain_upper_s));
        pt_json_value(r->json, "gain_upper_percent", PT_SHOW_PERCENT, pt_real(finding->gain_upper_percent));
    }
    pt_json_text(r->json, "stage", finding->stage >= 0 ? stages->items[finding->stage].name : NULL);
    pt_json_text(r->json, "title", finding->title);
    put_evidence(r, finding);
    pt_json_text(r->json, "confidence", pt_confidence_name(finding->confidence));
    put_place(r, &finding->place);
    pt_json_text(r->json, "remedy", finding->remedy);
    pt_json_text(r->json, "advice", finding->advice);
    pt_json_end(r->json);
}

/* Observations stand by themselves: a list of problems stays one. */
static void put_findings(const struct pt_report_json *r, const char *key, bool are_observations)
{
    pt_json_array(r->json, key);
    for (size_t i = 0; i < r->findings->n; i++) {
        const struct pt_finding *finding = &r->findings->items[i];
        if (finding->is_observation == are_observations &&
            (finding->stage < 0 || pt_report_json_wants(r, (pt_u32)finding->stage)))
            put_finding(r, finding);
    }
    pt_json_end(r->json);
}

/* ---- quality of the trace ---- */

static void put_notes(const struct pt_report_json *r)
{
    const struct pt_profile *profile = r->profile;
    pt_json_array(r->json, "notes");
    for (pt_u32 i = 0; i < profile->session->n_notes; i++)
        pt_json_text(r->json, NULL, profile->session->notes[i]);
    for (pt_u32 i = 0; profile->run && profile->run->notes[i]; i++)
        pt_json_text(r->json, NULL, profile->run->notes[i]);
    if (!profile->run)
        pt_json_text(r->json, NULL, pt_report_no_launcher_note(profile->session, r->arena));
    pt_json_end(r->json);
}

static void put_trace_quality(const struct pt_report_json *r)
{
    const struct pt_session *session = r->profile->session;
    const struct pt_quality *quality = &session->quality;
    struct pt_untraced_list programs = {0};
    pt_untraced_list(r->profile->session, r->profile->run, r->stage, &programs);
    pt_json_object(r->json, "trace_quality");
    pt_json_value(r->json, "processes", PT_SHOW_COUNT, pt_integer(session->n_processes));
    pt_json_value(r->json, "untraced", PT_SHOW_COUNT, pt_integer(programs.n));
    pt_json_value(r->json, "events", PT_SHOW_COUNT, pt_integer(quality->events));
    pt_json_value(r->json, "overwritten", PT_SHOW_COUNT, pt_report_lost(session, quality->overwritten));
    pt_json_value(r->json, "dropped", PT_SHOW_COUNT, pt_report_lost(session, quality->dropped));
    pt_json_value(r->json, "corrupt", PT_SHOW_COUNT, pt_report_lost(session, quality->corrupt_events));
    if (quality->cut_processes)
        pt_json_value(r->json, "cut_files", PT_SHOW_COUNT, pt_integer(quality->cut_processes));
    if (quality->damaged_files)
        pt_json_value(r->json, "damaged_files", PT_SHOW_COUNT, pt_integer(quality->damaged_files));
    if (quality->missing_files)
        pt_json_value(r->json, "missing_files", PT_SHOW_COUNT, pt_integer(quality->missing_files));
    put_notes(r);
    pt_json_end(r->json);
    free(programs.items);
}

static int append(void *context, const char *bytes, size_t n)
{
    pt_str_bytes(context, bytes, n);
    return 0;
}

void pt_render_json(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    (void)options;
    struct pt_arena arena = {0};
    struct pt_json *json = pt_malloc(sizeof *json);
    const struct pt_report_json r = {json, doc->profile, doc->all_findings, doc->only_stage, &arena};
    pt_json_init(json, append, out, true);
    pt_json_object(json, NULL);
    put_head(&r);
    pt_json_stages(&r);
    put_grades(&r);
    put_failures(&r);
    put_findings(&r, "findings", false);
    put_findings(&r, "observations", true);
    pt_json_processes(&r);
    put_trace_quality(&r);
    pt_json_end(json);
    pt_json_close(json);
    free(json);
    pt_arena_fini(&arena);
    pt_str_char(out, '\n');
}
