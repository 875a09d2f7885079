/* SPDX-License-Identifier: MIT
 *
 * Owns: what people see of each process. Threads: one. Never: hides that a program was not traced.
 */
#include "process.h"

#include <stdlib.h>

#include "report/outcome.h"
#include "report/untraced.h"

struct process_row {
    pt_u32 pid, ppid;
    const char *exe, *stage;
    double start_s;
    struct pt_value duration_s, cpu_s, heap_peak, exit;
};

static const struct pt_column process_columns[] = {
    PT_COLUMN(struct process_row, pid, NUMBER, "Pid"),
    PT_COLUMN(struct process_row, exe, TEXT, "Program"),
    PT_COLUMN(struct process_row, start_s, SECONDS, "Start"),
    PT_COLUMN(struct process_row, duration_s, SECONDS, "Duration"),
    PT_COLUMN(struct process_row, cpu_s, SECONDS, "CPU"),
    PT_COLUMN(struct process_row, heap_peak, BYTES, "Heap peak"),
    PT_COLUMN(struct process_row, exit, TEXT, "End"),
    PT_COLUMN(struct process_row, ppid, NUMBER, "Parent"),
    PT_COLUMN(struct process_row, stage, TEXT, "Stage"),
};

static void add_process(const struct pt_build *b, struct pt_table *table, const struct pt_process *process)
{
    const struct pt_metrics *metrics = &b->profile->metrics;
    const struct pt_scope scope = pt_scope_process(process->index);
    pt_table_add(table, &(struct process_row){
                            .pid = process->pid,
                            .exe = process->exe,
                            .start_s = (double)process->start_ns / 1e9,
                            .duration_s = pt_metrics_get(metrics, scope, "process.lived_s"),
                            .cpu_s = pt_metrics_get(metrics, scope, "process.cpu_s"),
                            .heap_peak = pt_metrics_get(metrics, scope, "heap.live_peak.bytes"),
                            .exit = pt_report_process_exit(process, &b->doc->arena),
                            .ppid = process->ppid,
                            .stage = b->profile->stages.items[pt_profile_stage_of(b->profile, process)].name,
                        });
}

static bool is_of(const struct pt_build *b, const struct pt_process *process, const struct pt_doc_stage *stage)
{
    const pt_u32 index = pt_profile_stage_of(b->profile, process);
    return stage ? stage->index == index : pt_build_wants(b, index);
}

/* NULL = there are none. `stage` NULL = of all that are wanted. */
static struct pt_panel *processes_of(const struct pt_build *b, const struct pt_doc_stage *stage)
{
    const struct pt_session *session = b->profile->session;
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(b->doc, "processes", "Processes", process_columns,
                                          sizeof process_columns / sizeof *process_columns, &table);
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

struct program_row {
    const char *exe, *untraced_reason;
    pt_u32 times;
};

static void add_untraced(const struct pt_build *b)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct program_row, exe, TEXT, "Program"),
        PT_COLUMN(struct program_row, untraced_reason, TEXT, "Why"),
        PT_COLUMN(struct program_row, times, COUNT, "Times"),
    };
    struct pt_untraced_list programs = {0};
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(b->doc, "not_traced", "Not traced", columns, 3, &table);
    pt_untraced_list(b->profile->session, b->profile->run, b->options->stage, &programs);
    for (size_t i = 0; i < programs.n; i++) {
        if (i >= b->options->top) {
            table->rows_left_out++;
            continue;
        }
        pt_table_add(table, &(struct program_row){
                                .exe = programs.items[i].path,
                                .untraced_reason = programs.items[i].reason ? programs.items[i].reason : "unknown",
                                .times = programs.items[i].times,
                            });
    }
    free(programs.items);
    b->doc->not_traced = table->n_rows ? panel : NULL;
}

void pt_build_processes(const struct pt_build *b)
{
    b->doc->processes = processes_of(b, NULL);
    add_untraced(b);
}
