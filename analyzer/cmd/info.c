/* SPDX-License-Identifier: MIT
 *
 * info.c - Owns: `proftrace info`: what was captured, what was lost, what was not traced and why. Threads: main only.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/format.h"
#include "proftrace/heap_modes.h"
#include "model/session.h"
#include "report/doc/doc.h"
#include "report/json/panel.h"
#include "report/json/value.h"
#include "report/medium.h"
#include "report/outcome.h"
#include "report/text/panel.h"
#include "report/text_file.h"
#include "report/untraced.h"
#include "util/auto.h"
#include "util/json/json_writer.h"
#include "cmd.h"
#include "arguments/open_run.h"

/* Without the slots in which records of GPUs lie. */
static pt_u32 threads_of(const struct pt_process *process)
{
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < process->n_threads; i++)
        n += process->threads[i].tid < PT_DEVICE_TID;
    return n;
}

static const char *const drop_names[] = {
#define DROP(name, doc) #name,
#include "proftrace/drops.def"
#undef DROP
};
static const char *const drop_docs[] = {
#define DROP(name, doc) doc,
#include "proftrace/drops.def"
#undef DROP
};

static pt_u64 count_untraced(const struct pt_run *run, const struct pt_session *session)
{
    struct pt_untraced_list programs = {0};
    pt_untraced_list(session, run->info, NULL, &programs);
    const pt_u64 n = programs.n;
    free(programs.items);
    return n;
}

/* Without a trace the launcher's. */
static pt_i64 duration_ns(const struct pt_run *run, const struct pt_session *session)
{
    return run->empty && run->info->duration_ns > 0 ? (pt_i64)run->info->duration_ns : session->duration_ns;
}

/* ---- for people ---- */

static struct pt_panel *capture_panel(struct pt_doc *doc, const struct pt_run *run, const struct pt_session *session)
{
    const struct pt_quality *q = &session->quality;
    const struct {
        const char *label;
        pt_u64 count;
        bool is_always_shown;
    } counts[] = {
        {"Processes", session->n_processes, true},    {"Programs not traced", count_untraced(run, session), true},
        {"Events in the trace", q->events, true},     {"Events overwritten", q->overwritten, true},
        {"Events dropped", q->dropped, true},         {"Events damaged", q->corrupt_events, true},
        {"Blocks damaged", q->corrupt_blocks, false}, {"Definitions damaged", q->corrupt_definitions, false},
    };
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_LINES, "capture", "Capture");
    pt_doc_line(&panel->lines, NULL, "Run", PT_SHOW_TEXT, pt_text(session->path));
    pt_doc_line(&panel->lines, NULL, "Duration", PT_SHOW_SECONDS, pt_seconds(duration_ns(run, session)));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].count || counts[i].is_always_shown)
            pt_doc_line(&panel->lines, NULL, counts[i].label, PT_SHOW_COUNT, pt_integer(counts[i].count));
    return panel;
}

struct drop_row {
    const char *reason, *meaning;
    pt_u64 events;
};

static struct pt_panel *drops_panel(struct pt_doc *doc, const struct pt_session *session)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct drop_row, reason, TEXT, "Reason"),
        PT_COLUMN(struct drop_row, events, COUNT, "Events"),
        PT_COLUMN(struct drop_row, meaning, TEXT, "Meaning"),
    };
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(doc, "drops", "Dropped events", columns, 3, &table);
    for (int d = 0; d < PT_DROP__COUNT; d++)
        if (session->quality.drops[d])
            pt_table_add(table, &(struct drop_row){
                                    .reason = drop_names[d],
                                    .events = session->quality.drops[d],
                                    .meaning = drop_docs[d],
                                });
    return panel;
}

static struct pt_value text_or_unknown(const char *text)
{
    return text ? pt_text(text) : pt_unknown("not noted");
}

struct untraced_row {
    struct pt_value stage, started_by_pid, path, reason, at_s;
    pt_u32 times;
};

static const struct pt_column untraced_columns[] = {
    PT_COLUMN(struct untraced_row, stage, TEXT, "Stage"),
    PT_COLUMN(struct untraced_row, started_by_pid, NUMBER, "Started by"),
    PT_COLUMN(struct untraced_row, path, TEXT, "Program"),
    PT_COLUMN(struct untraced_row, reason, TEXT, "Why"),
    PT_COLUMN(struct untraced_row, at_s, SECONDS, "At"),
    PT_COLUMN(struct untraced_row, times, COUNT, "Times"),
};

static struct pt_panel *untraced_panel(struct pt_doc *doc, const struct pt_run *run, const struct pt_session *session)
{
    struct pt_untraced_list programs = {0};
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(doc, "untraced", "Programs not traced", untraced_columns,
                                          sizeof untraced_columns / sizeof *untraced_columns, &table);
    pt_untraced_list(session, run->info, NULL, &programs);
    for (size_t i = 0; i < programs.n; i++) {
        const struct pt_untraced_program *one = &programs.items[i];
        const struct untraced_row row = {
            .stage = text_or_unknown(one->stage),
            .started_by_pid = one->parent ? pt_integer(one->parent->pid) : pt_unknown("the launcher started it"),
            .path = text_or_unknown(one->path),
            .reason = text_or_unknown(one->reason),
            .at_s = one->parent ? pt_seconds(one->at_ns) : pt_unknown("not noted"),
            .times = one->times,
        };
        pt_table_add(table, &row);
    }
    free(programs.items);
    return panel;
}

static const char *text_or(struct pt_value value, const char *other)
{
    return value.type == PT_VALUE_TEXT ? value.text : other;
}

/* Whole: a reason that is cut explains nothing. */
static struct pt_panel *untraced_texts(struct pt_doc *doc, const struct pt_run *run, const struct pt_session *session)
{
    const struct pt_table *table = untraced_panel(doc, run, session)->table;
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TEXTS, "untraced", "Programs not traced");
    panel->texts = pt_arena_alloc(&doc->arena, (table->n_rows + 1) * sizeof *panel->texts);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct pt_value pid = pt_table_cell(table, i, "started_by_pid");
        const double times = pt_table_number(table, i, "times");
        panel->texts[panel->n_texts++] = pt_doc_format(
            doc, "stage %s: %s: %s%s%s", text_or(pt_table_cell(table, i, "stage"), "?"),
            text_or(pt_table_cell(table, i, "path"), "?"), text_or(pt_table_cell(table, i, "reason"), "not noted why"),
            pid.type == PT_VALUE_INTEGER ? pt_doc_format(doc, " (started by %.0f)", pt_value_number(pid)) : "",
            times > 1 ? pt_doc_format(doc, ", %.0f times", times) : "");
    }
    return panel;
}

static int depth_of(const struct pt_process *p)
{
    int depth = 0;
    for (; p->parent && depth < 20; p = p->parent)
        depth++;
    return depth;
}

static const char *command_of(struct pt_doc *doc, const struct pt_process *p)
{
    const char *line = p->argc ? p->argv[0] : p->exe;
    for (int i = 1; i < p->argc && strlen(line) < 200; i++)
        line = pt_doc_format(doc, "%s %s", line, p->argv[i]);
    return line;
}

struct process_row {
    const char *pid, *exit, *heap, *command;
    double duration_s;
    pt_u64 threads, recorded, overwritten, dropped, damaged;
};

/* A process stands below the one that started it, a little to the right. */
static struct pt_panel *processes_panel(struct pt_doc *doc, const struct pt_session *session)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct process_row, pid, TEXT, "PID"),
        PT_COLUMN(struct process_row, exit, TEXT, "End"),
        PT_COLUMN(struct process_row, duration_s, SECONDS, "Lived"),
        PT_COLUMN(struct process_row, threads, COUNT, "Threads"),
        PT_COLUMN(struct process_row, heap, TEXT, "Heap"),
        PT_COLUMN(struct process_row, recorded, COUNT, "Events"),
        PT_COLUMN(struct process_row, overwritten, COUNT, "Overwritten"),
        PT_COLUMN(struct process_row, dropped, COUNT, "Dropped"),
        PT_COLUMN(struct process_row, damaged, COUNT, "Damaged"),
        PT_COLUMN(struct process_row, command, TEXT, "Command"),
    };
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(doc, "processes", "Processes", columns, sizeof columns / sizeof *columns, &table);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *p = session->processes[i];
        const struct pt_value ended = pt_report_process_exit(p, &doc->arena);
        pt_table_add(table, &(struct process_row){
                                .pid = pt_doc_format(doc, "%*s%" PRIu32, 2 * depth_of(p), "", p->pid),
                                .exit = ended.type == PT_VALUE_TEXT ? ended.text : "no end seen",
                                .duration_s = (double)(p->end_ns - p->start_ns) / 1e9,
                                .threads = threads_of(p),
                                .heap = pt_heap_modes[p->heap_mode],
                                .recorded = p->quality.events,
                                .overwritten = p->quality.overwritten,
                                .dropped = p->quality.dropped,
                                .damaged = p->quality.corrupt_events,
                                .command = command_of(doc, p),
                            });
    }
    return panel;
}

static bool are_all_blank(const struct pt_session *session)
{
    const struct pt_quality *quality = &session->quality;
    return !session->n_processes && quality->blank_files && quality->blank_files == quality->missing_files;
}

static struct pt_panel *notes_panel(struct pt_doc *doc, const struct pt_run *run, const struct pt_session *session)
{
    struct pt_panel *panel = pt_doc_panel(doc, PT_PANEL_TEXTS, "notes", "Notes");
    panel->texts = pt_arena_alloc(&doc->arena, (session->n_notes + 1) * sizeof *panel->texts);
    for (pt_u32 i = 0; i < session->n_notes; i++)
        panel->texts[panel->n_texts++] = session->notes[i];
    if (!session->quality.events)
        panel->texts[panel->n_texts++] =
            session->quality.truncated
                ? "What was recorded lay in the missing part: copy the files again and compare their sizes."
            : are_all_blank(session)
                ? "Trace files are empty: copy the whole folder of the run again if the original has more."
            : session->quality.missing_files
                ? "Trace files are missing, and what they had recorded: copy the whole folder of the run."
            : count_untraced(run, session) ? "Nothing was recorded: the reasons stand above."
                                           : "Nothing was recorded: `proftrace doctor` says what may stand in the way.";
    return panel;
}

static int print_text(const struct pt_run *run, const struct pt_session *session, struct pt_error *err)
{
    const struct pt_render_options how = pt_medium_of(NULL);
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const struct pt_text_out people = {&how, &text};
    const struct pt_panel *const panels[] = {capture_panel(doc, run, session), drops_panel(doc, session),
                                             untraced_texts(doc, run, session), processes_panel(doc, session),
                                             notes_panel(doc, run, session)};
    for (size_t i = 0; i < sizeof panels / sizeof *panels; i++)
        pt_text_panel(&people, panels[i], NULL);
    return pt_text_file_write(NULL, &text, err);
}

/* ---- JSON ---- */

static void json_quality(struct pt_json *json, const char *key, const struct pt_quality *q)
{
    pt_json_object(json, key);
    pt_json_u64(json, "recorded", q->events);
    pt_json_u64(json, "overwritten", q->overwritten);
    pt_json_u64(json, "dropped", q->dropped);
    pt_json_u64(json, "damaged", q->corrupt_events);
    pt_json_object_inline(json, "drop_reasons");
    for (int d = 0; d < PT_DROP__COUNT; d++)
        if (q->drops[d])
            pt_json_u64(json, drop_names[d], q->drops[d]);
    pt_json_end(json);
    pt_json_u64(json, "damaged_blocks", q->corrupt_blocks);
    pt_json_u64(json, "damaged_definitions", q->corrupt_definitions);
    pt_json_bool(json, "truncated", q->truncated);
    pt_json_end(json);
}

static void json_process(struct pt_json *json, const struct pt_process *p, struct pt_arena *arena)
{
    pt_json_object(json, NULL);
    pt_json_u64(json, "pid", p->pid);
    pt_json_u64(json, "ppid", p->ppid);
    pt_json_text(json, "host", p->host);
    pt_json_text(json, "stage", p->stage);
    pt_json_text(json, "exe", p->exe);
    pt_json_array_inline(json, "argv");
    for (int i = 0; i < p->argc; i++)
        pt_json_text(json, NULL, p->argv[i]);
    pt_json_end(json);
    pt_json_text(json, "file", p->file_name);
    pt_json_fixed(json, "start_s", p->start_ns, 9);
    pt_json_fixed(json, "duration_s", p->end_ns - p->start_ns, 9);
    pt_json_value(json, "exit", PT_SHOW_TEXT, pt_report_process_exit(p, arena));
    pt_json_text(json, "heap", pt_heap_modes[p->heap_mode]);
    pt_json_u64(json, "threads", threads_of(p));
    if (p->rank >= 0)
        pt_json_i64(json, "rank", p->rank);
    else
        pt_json_null(json, "rank");
    json_quality(json, "events", &p->quality);
    pt_json_end(json);
}

static int print_json(const struct pt_run *run, const struct pt_session *session, struct pt_error *err)
{
    PT_AUTO(pt_doc_freep) struct pt_doc *doc = pt_doc_new();
    struct pt_json json;
    pt_json_init_file(&json, stdout, true);
    pt_json_object(&json, NULL);
    pt_json_text(&json, "run", session->path);
    pt_json_fixed(&json, "duration_s", duration_ns(run, session), 9);
    json_quality(&json, "events", &session->quality);
    pt_json_array(&json, "processes");
    for (pt_u32 i = 0; i < session->n_processes; i++)
        json_process(&json, session->processes[i], &doc->arena);
    pt_json_end(&json);
    pt_json_panel(&json, untraced_panel(doc, run, session));
    pt_json_array(&json, "notes");
    for (pt_u32 i = 0; i < session->n_notes; i++)
        pt_json_text(&json, NULL, session->notes[i]);
    pt_json_end(&json);
    pt_json_end(&json);
    return pt_json_close(&json) < 0 ? pt_fail(err, "cannot write: %s", strerror(errno)) : 0;
}

int pt_cmd_info(int argc, char **argv, struct pt_error *err)
{
    bool as_json = false;
    const struct pt_opt table[] = {PT_OPT_FLAG("json", 0, &as_json, "print JSON"), PT_OPT_END};
    struct pt_run run = {0};
    int done = pt_open_run(table, argc, argv, &run, err);
    const struct pt_session *session = pt_run_session(&run);
    if (done == 0 && as_json)
        done = print_json(&run, session, err);
    else if (done == 0)
        done = print_text(&run, session, err);
    pt_run_close(&run);
    return done < 0 ? -1 : 0;
}
