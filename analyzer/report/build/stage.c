/* SPDX-License-Identifier: MIT
 *
 * Owns: which panels a stage has, in which order. Threads: one. Never: names a table of its own: views.def has them.
 */
#include "stage.h"

#include <math.h>

#include "facts/wait_kind.h"
#include "report/log_tail.h"
#include "report/outcome.h"
#include "account.h"
#include "flame.h"
#include "gpu.h"
#include "process.h"
#include "training.h"

static void add_panel(struct pt_doc_stage *stage, struct pt_panel *panel, enum pt_section section, bool is_open)
{
    panel->section = section;
    panel->is_open = is_open;
    pt_vec_push(&stage->panels, panel);
}

/* ---- panels ---- */

static void add_tables(const struct pt_build *b, struct pt_doc_stage *stage)
{
    for (enum pt_view view = 0; view < PT_VIEW__COUNT; view++) {
        const struct pt_table_view *row = &pt_table_views[view];
        const struct pt_table *table = pt_view_rows(&b->profile->metrics, stage->index, view);
        if (row->section != PT_SECTION_GPU && row->look != PT_TABLE_HIDDEN && table)
            add_panel(stage, pt_doc_rows(b->doc, row->id, row->label, table, b->options->top), row->section,
                      row->look == PT_TABLE_OPEN);
    }
}

/* What lived when is known exactly only where every call was recorded. */
static const char *heap_label(const struct pt_build *b, pt_u32 stage, const struct pt_metric_view *view)
{
    const struct pt_value sampled = pt_metrics_get(&b->profile->metrics, pt_scope_stage(stage), "heap.sampled.count");
    const bool is_of_lives = !strcmp(view->metric, "heap.live_peak.bytes") ||
                             !strcmp(view->metric, "heap.growth.bytes") || !strcmp(view->metric, "heap.churn.bytes");
    if (!is_of_lives || !(pt_value_number(sampled) > 0))
        return view->label;
    const size_t length = strlen(view->label);
    return view->label[length - 1] == ')' ? pt_doc_format(b->doc, "%.*s, est.)", (int)length - 1, view->label)
                                          : pt_doc_format(b->doc, "%s (est.)", view->label);
}

static void add_heap(const struct pt_build *b, struct pt_doc_stage *stage)
{
    struct pt_panel *panel = pt_doc_panel(b->doc, PT_PANEL_LINES, "heap", "Heap");
    for (const struct pt_metric_view *view = pt_metric_views; view->key; view++) {
        const struct pt_value value = pt_view_value(&b->profile->metrics, stage->index, view);
        const bool is_of_others =
            value.type == PT_VALUE_UNKNOWN && view->show == PT_SHOW_TEXT; /* no training has none */
        if (view->group == PT_GROUP_HEAP && !is_of_others)
            pt_doc_line(&panel->lines, view->key, heap_label(b, stage->index, view), view->show, value);
    }
    add_panel(stage, panel, PT_SECTION_MEMORY, true);
}

/* The end of its output; failures have their own. */
static void add_log(const struct pt_build *b, struct pt_doc_stage *stage)
{
    const struct pt_log_tail tail = pt_log_tail(b->profile->session->path, stage->log, &b->doc->arena);
    if (!tail.n || stage->has_failed)
        return;
    struct pt_panel *panel = pt_doc_panel(b->doc, PT_PANEL_LOG, "log", pt_doc_format(b->doc, "End of %s", stage->log));
    panel->texts = pt_arena_alloc(&b->doc->arena, tail.n * sizeof *panel->texts);
    panel->n_texts = tail.n;
    memcpy(panel->texts, tail.lines, tail.n * sizeof *panel->texts);
    panel->is_for_pages = true;
    add_panel(stage, panel, PT_SECTION_PROCESSES, false);
}

static void add_panels(const struct pt_build *b, struct pt_doc_stage *stage)
{
    pt_build_gpu(b, stage);
    pt_build_flame(b, stage);
    add_log(b, stage);
    if (!b->profile->stages.items[stage->index].root)
        return; /* not traced */
    pt_build_threads(b, stage);
    pt_build_training(b, stage);
    add_tables(b, stage);
    add_heap(b, stage);
    pt_build_stage_processes(b, stage);
}

/* ---- the stage itself ---- */

static struct pt_cell view_cell(const struct pt_build *b, pt_u32 stage, const char *key)
{
    const struct pt_metric_view *view = pt_metric_views;
    while ((view->group != PT_GROUP_STAGE && view->group != PT_GROUP_RESOURCES) || strcmp(view->key, key) != 0)
        view++;
    return pt_cell(view->show, pt_view_value(&b->profile->metrics, stage, view));
}

static const char *command_line(const struct pt_build *b, pt_u32 stage)
{
    const char *line = NULL;
    for (const char **word = pt_report_stage_command(b->profile, stage, &b->doc->arena); *word; word++)
        line = line ? pt_doc_format(b->doc, "%s %s", line, *word) : *word;
    return line;
}

static void add_left(const struct pt_build *b, struct pt_doc_stage *stage, const struct pt_run_stage *run)
{
    for (pt_u32 i = 0; run && i < run->n_left; i++) {
        const double number = run->left[i].pid;
        const char *pid = isnan(number) ? "pid unknown" : pt_doc_format(b->doc, "pid %.0f", number);
        pt_doc_line(&stage->left, "left_running", pid, PT_SHOW_TEXT, pt_text(run->left[i].command));
    }
}

/* What ran is known exactly where it was recorded. The samples are of the GPUs of the machine, whoever uses them. */
static struct pt_cell gpu_util(const struct pt_build *b, pt_u32 index, bool *ret_is_sampled)
{
    const struct pt_value exact = pt_build_metric(b, index, "gpu.busy_of_stage_percent");
    *ret_is_sampled = exact.type == PT_VALUE_UNKNOWN;
    return *ret_is_sampled ? view_cell(b, index, "gpu_util_percent_avg") : pt_cell(PT_SHOW_PERCENT, exact);
}

static struct pt_doc_stage *new_stage(const struct pt_build *b, pt_u32 index)
{
    struct pt_doc *doc = b->doc;
    const struct pt_run_stage *run = pt_profile_run_of(b->profile, index);
    struct pt_doc_stage *stage = pt_arena_alloc(&doc->arena, sizeof *stage);
    *stage = (struct pt_doc_stage){
        .index = index,
        .name = b->profile->stages.items[index].name,
        .status = pt_report_stage_status(b->profile, index, &doc->arena),
        .reason = pt_cell(PT_SHOW_TEXT, pt_report_stage_reason(b->profile, index, &doc->arena)),
        .duration = pt_cell(PT_SHOW_SECONDS, pt_report_stage_duration(b->profile, index)),
        .cpu_avg = view_cell(b, index, "cpu_percent_avg"),
        .cpu_max = view_cell(b, index, "cpu_percent_max"),
        .rss_max = view_cell(b, index, "rss_mb_max"),
        .pss_max = view_cell(b, index, "pss_bytes_max"),
        .processes_max = view_cell(b, index, "processes_max"),
        .gpu_mem = view_cell(b, index, "gpu_mem_mb_max"),
        .command = command_line(b, index),
        .log = run ? run->log : NULL,
        .was_skipped = pt_stage_was_skipped(&b->profile->stages.items[index]),
        .has_failed = run && pt_run_stage_failed(run),
    };
    stage->gpu_util = gpu_util(b, index, &stage->gpu_util_is_sampled);
    stage->share_percent = 100 * pt_cell_number(stage->duration) / doc->duration_s;
    stage->time = pt_build_time_bar(b, stage);
    pt_build_training_line(b, stage);
    add_left(b, stage, run);
    return stage;
}

static void mark_longest(struct pt_doc *doc)
{
    struct pt_doc_stage *longest = NULL;
    for (size_t i = 0; i < doc->stages.n; i++) {
        struct pt_doc_stage *stage = doc->stages.items[i];
        const double duration_s = pt_cell_number(stage->duration);
        if (duration_s > (longest ? pt_cell_number(longest->duration) : 0))
            longest = stage;
    }
    if (longest)
        longest->is_longest = true;
}

struct stage_row {
    const char *stage, *status;
    struct pt_value duration_s, cpu_avg, rss_max, gpu_util;
};

static void add_summary(const struct pt_build *b)
{
    static const struct pt_column columns[] = {
        PT_COLUMN(struct stage_row, stage, TEXT, "Stage"),
        PT_COLUMN(struct stage_row, duration_s, SECONDS, "Duration"),
        PT_COLUMN(struct stage_row, cpu_avg, PERCENT, "CPU Avg"),
        PT_COLUMN(struct stage_row, rss_max, MIB, "RAM Max"),
        PT_COLUMN(struct stage_row, gpu_util, PERCENT, "GPU Util"),
        PT_COLUMN(struct stage_row, status, TEXT, "Status"),
    };
    struct pt_table *table;
    struct pt_panel *panel =
        pt_doc_table(b->doc, "stages", "Summary", columns, sizeof columns / sizeof *columns, &table);
    for (size_t i = 0; i < b->doc->stages.n; i++) {
        const struct pt_doc_stage *stage = b->doc->stages.items[i];
        pt_table_add(table, &(struct stage_row){
                                .stage = stage->name,
                                .duration_s = stage->duration.value,
                                .cpu_avg = stage->cpu_avg.value,
                                .rss_max = stage->rss_max.value,
                                .gpu_util = stage->gpu_util.value,
                                .status = stage->status,
                            });
    }
    b->doc->summary = table->n_rows ? panel : NULL;
}

void pt_build_stages(const struct pt_build *b)
{
    for (pt_u32 i = 0; i < b->profile->stages.n; i++)
        if (pt_build_wants(b, i))
            pt_vec_push(&b->doc->stages, new_stage(b, i));
    mark_longest(b->doc);
    add_summary(b);
    pt_build_time_account(b);
    pt_build_whose_time(b);
    for (size_t i = 0; i < b->doc->stages.n; i++)
        add_panels(b, b->doc->stages.items[i]);
}
