/* SPDX-License-Identifier: MIT
 *
 * Owns: head, quality, failures and trace quality of a document. Threads: one. Never: judges; prints 0 for what was not
 * measured.
 */
#include "run.h"

#include <math.h>
#include <stdlib.h>

#include "model/window.h"
#include "report/grades.h"
#include "report/log_tail.h"
#include "report/outcome.h"
#include "report/untraced.h"
#include "util/whole.h"

/* ---- head ---- */

void pt_build_head(const struct pt_build *b)
{
    const struct pt_run_info *run = b->profile->run;
    struct pt_doc *doc = b->doc;
    const struct pt_value started = pt_report_started(b->profile, &doc->arena);
    const struct pt_value commit = pt_report_commit(b->profile, &doc->arena);
    /* Where no stage is told, they say nothing of the run. */
    const bool is_told = run && !run->pipeline.not_passed_on;
    const double epochs = is_told ? run->pipeline.train_epochs : NAN;
    const pt_i64 wall_ns = pt_profile_wall_ns(b->profile);
    doc->run = b->profile->session->name;
    doc->started_utc = started.type == PT_VALUE_TEXT ? started.text : NULL;
    doc->dataset = is_told ? run->pipeline.dataset : NULL;
    doc->epochs = epochs > 0 ? floor(epochs) : NAN;
    doc->duration_s = wall_ns > 0 ? (double)wall_ns / 1e9 : NAN;
    pt_doc_line(&doc->head, "run", "Run", PT_SHOW_TEXT, pt_text(doc->run));
    pt_doc_line(&doc->head, "timestamp_utc", "Started", PT_SHOW_TEXT, started);
    if (doc->dataset)
        pt_doc_line(&doc->head, "dataset", "Dataset", PT_SHOW_TEXT, pt_text(doc->dataset));
    if (epochs > 0)
        pt_doc_line(&doc->head, "train_epochs", "Epochs", PT_SHOW_COUNT, pt_integer(pt_whole(epochs)));
    if (pt_session_is_window(b->profile->session))
        pt_doc_line(&doc->head, "window", "Window", PT_SHOW_TEXT, pt_report_window(b->profile, &doc->arena));
    pt_doc_line(&doc->head, "total_duration_s", "Duration", PT_SHOW_SECONDS, pt_report_duration(b->profile));
    if (run && run->host)
        pt_doc_line(&doc->head, "host", "Host", PT_SHOW_TEXT, pt_text(run->host));
    if (commit.type == PT_VALUE_TEXT)
        pt_doc_line(&doc->head, "git_commit", "Commit", PT_SHOW_TEXT, commit);
}

/* ---- quality that was reached ---- */

static struct pt_cell grade_cell(const struct pt_build *b, const struct pt_grade *grade)
{
    if (grade->is_grade && grade->value.type == PT_VALUE_REAL)
        return pt_cell(PT_SHOW_TEXT, pt_text(pt_doc_format(b->doc, "%g/100", grade->value.real)));
    return pt_cell(PT_SHOW_NUMBER, grade->value);
}

/* With every metric missing for the same reason, saying it once is enough. */
void pt_build_grades(const struct pt_build *b)
{
    const bool is_pipeline = b->profile->run && b->profile->run->is_pipeline;
    const char *last_reason = NULL;
    struct pt_grade_list grades = {0};
    pt_grade_list(b->profile, &grades);
    for (size_t i = 0; i < grades.n; i++) {
        const struct pt_grade *grade = &grades.items[i];
        struct pt_cell cell = grade_cell(b, grade);
        const char *label =
            isnan(grade->min) ? grade->label : pt_doc_format(b->doc, "%s (at least %g)", grade->label, grade->min);
        if (cell.value.type == PT_VALUE_UNKNOWN) {
            const char *reason = cell.value.reason;
            if (last_reason && reason && !strcmp(reason, last_reason))
                cell.value.reason = NULL;
            last_reason = reason;
        }
        pt_doc_line(&b->doc->grades, grade->key, label, cell.show, cell.value);
        if (is_pipeline && pt_grade_is_broken(grade))
            pt_vec_push(&b->doc->broken_floors,
                        ((struct pt_doc_floor){grade->key, grade->label, {PT_SHOW_NUMBER, grade->value}, grade->min}));
    }
    if (pt_grades_are_wanted(b->profile) && pt_grade_source(b->profile))
        pt_doc_line(&b->doc->grades, "quality_file", "Read from", PT_SHOW_TEXT, pt_text(pt_grade_source(b->profile)));
    free(grades.items);
}

/* ---- failures ---- */

static bool is_wanted(const struct pt_build *b, const struct pt_run_stage *stage)
{
    return !b->options->stage || !strcmp(b->options->stage, stage->name);
}

static void add_failure(const struct pt_build *b, const struct pt_run_stage *stage)
{
    const struct pt_log_tail tail = pt_log_tail(b->profile->session->path, stage->log, &b->doc->arena);
    struct pt_doc_failure failure = {
        .stage = stage->name,
        .log = stage->log,
        .reason = pt_cell(PT_SHOW_TEXT, pt_text(stage->reason ? stage->reason : stage->exit)),
        .n_lines = tail.n,
    };
    for (pt_u32 i = 0; i < tail.n; i++)
        failure.lines[i] = tail.lines[i];
    failure.n_stacks = pt_stack_lines(stage->stacks, failure.stacks, &b->doc->arena);
    pt_vec_push(&b->doc->failures, failure);
}

struct skipped_row {
    const char *stage;
    struct pt_value reason;
};

void pt_build_failures(const struct pt_build *b)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct skipped_row, stage, TEXT, "Stage"),
        PT_COLUMN(struct skipped_row, reason, TEXT, "Why"),
    };
    const struct pt_run_info *run = b->profile->run;
    struct pt_table *skipped;
    if (!run)
        return;
    struct pt_panel *panel = pt_doc_table(b->doc, "skipped", "Skipped", columns, 2, &skipped);
    for (pt_u32 i = 0; i < run->n_stages; i++) {
        const struct pt_run_stage *stage = &run->stages[i];
        if (!is_wanted(b, stage))
            continue;
        if (pt_run_stage_failed(stage))
            add_failure(b, stage);
        else if (stage->status && !strcmp(stage->status, "skipped"))
            pt_table_add(skipped, &(struct skipped_row){
                                      .stage = stage->name,
                                      .reason = stage->reason ? pt_text(stage->reason) : pt_unknown("nobody noted why"),
                                  });
    }
    b->doc->skipped = skipped->n_rows ? panel : NULL;
}

/* ---- quality of the trace ---- */

static void add_notes(const struct pt_build *b)
{
    const struct pt_session *session = b->profile->session;
    const struct pt_run_info *run = b->profile->run;
    pt_u32 most = session->n_notes + 1;
    for (pt_u32 i = 0; run && run->notes[i]; i++)
        most++;
    const char **notes = pt_arena_alloc(&b->doc->arena, most * sizeof *notes);
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_notes; i++)
        notes[n++] = session->notes[i];
    for (pt_u32 i = 0; run && run->notes[i]; i++)
        notes[n++] = run->notes[i];
    if (!run)
        notes[n++] = pt_report_no_launcher_note(session, &b->doc->arena);
    b->doc->notes = notes;
    b->doc->n_notes = n;
}

void pt_build_trace_quality(const struct pt_build *b)
{
    const struct pt_session *session = b->profile->session;
    const struct pt_quality *quality = &session->quality;
    struct pt_lines *lines = &b->doc->trace_quality;
    struct pt_untraced_list programs = {0};
    pt_untraced_list(b->profile->session, b->profile->run, b->options->stage, &programs);
    pt_doc_line(lines, "processes", "Processes", PT_SHOW_COUNT, pt_integer(session->n_processes));
    pt_doc_line(lines, "untraced", "Untraced", PT_SHOW_COUNT, pt_integer(programs.n));
    pt_doc_line(lines, "events", "Events", PT_SHOW_COUNT, pt_integer(quality->events));
    pt_doc_line(lines, "overwritten", "Overwritten", PT_SHOW_COUNT, pt_report_lost(session, quality->overwritten));
    pt_doc_line(lines, "dropped", "Dropped", PT_SHOW_COUNT, pt_report_lost(session, quality->dropped));
    pt_doc_line(lines, "corrupt", "Corrupt", PT_SHOW_COUNT, pt_report_lost(session, quality->corrupt_events));
    if (quality->cut_processes)
        pt_doc_line(lines, "cut_files", "Cut files", PT_SHOW_COUNT, pt_integer(quality->cut_processes));
    if (quality->damaged_files)
        pt_doc_line(lines, "damaged_files", "Damaged files", PT_SHOW_COUNT, pt_integer(quality->damaged_files));
    if (quality->missing_files)
        pt_doc_line(lines, "missing_files", "Missing files", PT_SHOW_COUNT, pt_integer(quality->missing_files));
    b->doc->lost_events = (double)quality->overwritten + (double)quality->dropped + (double)quality->corrupt_events;
    b->doc->untraced = (double)programs.n;
    b->doc->is_cut = quality->cut_processes > 0;
    b->doc->lost_files = (double)quality->missing_files + quality->damaged_files;
    b->doc->is_empty = !session->n_processes;
    for (pt_u32 i = 0; i < b->profile->stages.n; i++)
        b->doc->cupti_s += pt_stage_number_or_0(b->profile, i, "cpu.main_cupti_s");
    add_notes(b);
    free(programs.items);
}
