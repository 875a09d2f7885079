/* SPDX-License-Identifier: MIT
 *
 * Owns: what people see of each process. Threads: one. Never: hides that a program was not traced.
 */
#include "process.h"

#include <stdlib.h>

#include "report/outcome.h"
#include "report/untraced.h"

static void add_process(const struct pt_build *b, struct pt_table *table, const struct pt_process *process)
{
    const struct pt_value peak =
        pt_metrics_get(&b->profile->metrics, pt_scope_process(process->index), "heap.live_peak.bytes");
    const struct pt_value cells[] = {
        pt_integer(process->pid),
        pt_text(process->exe),
        pt_seconds(process->start_ns),
        pt_seconds(process->end_ns - process->start_ns),
        process->cpu_ns ? pt_seconds((pt_i64)process->cpu_ns) : pt_unknown("the process did not note it"),
        peak,
        pt_report_process_exit(process, &b->doc->arena),
        pt_integer(process->ppid),
        pt_text(b->profile->stages.items[pt_profile_stage_of(b->profile, process)].name),
    };
    memcpy(pt_table_add_row(table), cells, sizeof cells);
}

static bool is_of(const struct pt_build *b, const struct pt_process *process, const struct pt_doc_stage *stage)
{
    const pt_u32 index = pt_profile_stage_of(b->profile, process);
    return stage ? stage->index == index : pt_build_wants(b, index);
}

/* NULL = there are none. `stage` NULL = of all that are wanted. */
static struct pt_panel *processes_of(const struct pt_build *b, const struct pt_doc_stage *stage)
{
    static const struct pt_column columns[] = {
        {"pid", "Pid", PT_SHOW_NUMBER},        {"exe", "Program", PT_SHOW_TEXT},
        {"start_s", "Start", PT_SHOW_SECONDS}, {"duration_s", "Duration", PT_SHOW_SECONDS},
        {"cpu_s", "CPU", PT_SHOW_SECONDS},     {"heap_peak", "Heap peak", PT_SHOW_BYTES},
        {"exit", "End", PT_SHOW_TEXT},         {"ppid", "Parent", PT_SHOW_NUMBER},
        {"stage", "Stage", PT_SHOW_TEXT},
    };
    const struct pt_session *session = b->profile->session;
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(b->doc, "processes", "Processes", columns, sizeof columns / sizeof *columns, &table);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        if (!is_of(b, session->processes[i], stage))
            continue;
        if (table->n_rows < b->options->top)
            add_process(b, table, session->processes[i]);
        else
            table->rows_left_out++;
    }
    return table->n_rows ? panel : NULL;
}

void pt_build_stage_processes(const struct pt_build *b, struct pt_doc_stage *stage)
{
    struct pt_panel *panel = processes_of(b, stage);
    if (!panel)
        return;
    panel->section = PT_SECTION_PROCESSES;
    panel->is_for_pages = true;
    pt_vec_push(&stage->panels, panel);
}

static void add_untraced(const struct pt_build *b)
{
    static const struct pt_column columns[] = {{"exe", "Program", PT_SHOW_TEXT},
                                               {"untraced_reason", "Why", PT_SHOW_TEXT}};
    struct pt_untraced_list programs = {0};
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(b->doc, "not_traced", "Not traced", columns, 2, &table);
    pt_untraced_list(b->profile, b->options->stage, &programs);
    for (size_t i = 0; i < programs.n; i++) {
        if (i >= b->options->top) {
            table->rows_left_out++;
            continue;
        }
        struct pt_value *row = pt_table_add_row(table);
        row[0] = pt_text(programs.items[i].path);
        row[1] = pt_text(programs.items[i].reason ? programs.items[i].reason : "unknown");
    }
    free(programs.items);
    b->doc->not_traced = table->n_rows ? panel : NULL;
}

void pt_build_processes(const struct pt_build *b)
{
    b->doc->processes = processes_of(b, NULL);
    add_untraced(b);
}
