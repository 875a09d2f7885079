/* SPDX-License-Identifier: MIT
 *
 * Owns: what a report shows of the GPUs of a stage. Threads: one. Never: is silent where GPU work was not seen: the
 * reason is shown.
 */
#include "gpu.h"

enum {
    MOST_CAUSES = 16
}; /* in a bar; the rest is one part. With busy before them, they have the colors of the time account */

/* ---- bars ---- */

/* Busy, then why it was idle. */
static struct pt_bar device_bar(const struct pt_build *b, pt_u32 stage, const struct pt_table *devices, size_t row)
{
    const struct pt_table *causes = pt_view_rows(&b->profile->metrics, stage, PT_VIEW_gpu_idle_causes);
    const double id = pt_table_number(devices, row, "id");
    const double busy_s = pt_table_number(devices, row, "busy_s");
    double rest_s = 0;
    struct pt_bar bar = {
        .name = pt_doc_format(b->doc, "GPU %.0f", id),
        .whole = "time from its first to its last work",
        .length = pt_cell(PT_SHOW_SECONDS, pt_table_cell(devices, row, "window_s")),
        .parts = pt_arena_alloc(&b->doc->arena, (MOST_CAUSES + 2) * sizeof *bar.parts),
    };
    if (busy_s > 0)
        bar.parts[bar.n_parts++] = (struct pt_bar_part){"Busy", busy_s, 1};
    pt_u32 n = 0;
    for (size_t i = 0; causes && i < causes->n_rows; i++) {
        const double seconds = pt_table_number(causes, i, "seconds");
        if (pt_table_number(causes, i, "device") != id)
            continue;
        if (n++ < MOST_CAUSES)
            bar.parts[bar.n_parts++] =
                (struct pt_bar_part){pt_value_label(pt_table_cell(causes, i, "cause")), seconds, n + 1};
        else
            rest_s += seconds;
    }
    if (rest_s > 0)
        bar.parts[bar.n_parts++] = (struct pt_bar_part){"Other causes", rest_s, MOST_CAUSES + 2};
    return bar;
}

static void add_bars(const struct pt_build *b, struct pt_doc_stage *stage)
{
    const struct pt_table *devices = pt_view_rows(&b->profile->metrics, stage->index, PT_VIEW_gpu_devices);
    if (!devices)
        return;
    struct pt_panel *panel = pt_doc_panel(b->doc, PT_PANEL_BARS, "gpu_bars", "Busy, and why not");
    panel->section = PT_SECTION_GPU;
    panel->is_open = true;
    panel->note = "From the first to the last work of each GPU. Bars have one scale; what follows busy is what the "
                  "launching thread did, or waited for, while the GPU was idle.";
    for (size_t row = 0; row < devices->n_rows; row++)
        pt_vec_push(&panel->bars, device_bar(b, stage->index, devices, row));
    pt_vec_push(&stage->panels, panel);
}

/* ---- lines ---- */

static bool is_of_gpu(const struct pt_metric_view *view)
{
    return view->group == PT_GROUP_GPU || view->group == PT_GROUP_GPU_SHOWN;
}

/* Unknown time comes last, and only if there is any. */
static void add_lines(const struct pt_build *b, struct pt_doc_stage *stage)
{
    struct pt_panel *panel = pt_doc_panel(b->doc, PT_PANEL_LINES, "gpu_summary", "GPU");
    const struct pt_metric_view *reason = NULL;
    panel->section = PT_SECTION_GPU;
    panel->is_open = true;
    for (const struct pt_metric_view *view = pt_metric_views; view->key; view++) {
        const struct pt_value value = pt_build_metric(b, stage->index, view->metric);
        const bool is_reason = view->group == PT_GROUP_GPU && !strcmp(view->key, "reason");
        reason = is_reason ? view : reason;
        if (is_of_gpu(view) && !is_reason && *view->label && value.type != PT_VALUE_UNKNOWN)
            pt_doc_line(&panel->lines, view->key, view->label, view->show, value);
    }
    const struct pt_value why = reason ? pt_build_metric(b, stage->index, reason->metric) : pt_unknown("no reason");
    if (reason && why.type != PT_VALUE_UNKNOWN)
        pt_doc_line(&panel->lines, reason->key, reason->label, reason->show, why);
    pt_vec_push(&stage->panels, panel);
}

void pt_build_gpu(const struct pt_build *b, struct pt_doc_stage *stage)
{
    if (!pt_metrics_has(&b->profile->metrics, pt_scope_stage(stage->index), "gpu.source"))
        return;
    add_bars(b, stage);
    add_lines(b, stage);
    for (enum pt_view view = 0; view < PT_VIEW__COUNT; view++) {
        const struct pt_table_view *row = &pt_table_views[view];
        const struct pt_table *table = pt_view_rows(&b->profile->metrics, stage->index, view);
        if (row->section != PT_SECTION_GPU || row->look == PT_TABLE_HIDDEN || !table)
            continue;
        struct pt_panel *panel = pt_doc_rows(b->doc, row->id, row->label, table, b->options->top);
        panel->section = row->section;
        panel->is_open = row->look == PT_TABLE_OPEN;
        pt_vec_push(&stage->panels, panel);
    }
}
