/* SPDX-License-Identifier: MIT
 *
 * Owns: which resources get a column: those with at least one known value. Threads: one. Never: prints 0 for what was
 * not measured.
 */
#include "resources.h"

#include <math.h>
#include <stdio.h>

/* Which reasons held the clocks of the GPUs back, and how much of the time. */
static struct pt_value throttle_value(const struct pt_build *b, pt_u32 stage)
{
    static const enum pt_resource reasons[] = {
        PT_RESOURCE_gpu_power_cap_percent,  PT_RESOURCE_gpu_hw_slowdown_percent, PT_RESOURCE_gpu_sw_thermal_percent,
        PT_RESOURCE_gpu_hw_thermal_percent, PT_RESOURCE_gpu_power_brake_percent,
    };
    const struct pt_run_resource *all = b->profile->stages.items[stage].run->resources;
    const char *text = NULL;
    if (isnan(all[PT_RESOURCE_gpu_throttled_percent].mean))
        return pt_unknown(all[PT_RESOURCE_gpu_throttled_percent].reason);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (all[reasons[i]].mean > 0)
            text = pt_doc_format(b->doc, "%s%s%s %.0f %%", text ? text : "", text ? ", " : "",
                                 pt_resources[reasons[i]].label, all[reasons[i]].mean);
    if (text)
        return pt_text(text);
    return pt_text(all[PT_RESOURCE_gpu_throttled_percent].mean > 0 ? "yes, nobody noted why" : "no");
}

static bool has_samples(const struct pt_doc_stage *stage, const struct pt_build *b)
{
    return b->profile->stages.items[stage->index].run && !stage->was_skipped;
}

static bool knows_throttling(const struct pt_build *b)
{
    for (pt_u32 i = 0; i < b->profile->stages.n; i++) {
        const struct pt_run_stage *run = b->profile->stages.items[i].run;
        if (run && !isnan(run->resources[PT_RESOURCE_gpu_throttled_percent].mean))
            return true;
    }
    return false;
}

static bool is_known_anywhere(const struct pt_build *b, const struct pt_metric_view *view)
{
    for (pt_u32 i = 0; i < b->profile->stages.n; i++)
        if (pt_view_value(&b->profile->metrics, i, view).type != PT_VALUE_UNKNOWN)
            return true;
    return false;
}

struct stage_row {
    const char *stage;
    struct pt_value shown[PT_MAX_COLUMNS], gpu_throttled;
};

static const struct pt_column first_column = PT_COLUMN(struct stage_row, stage, TEXT, "Stage");
static const struct pt_column last_column = PT_COLUMN(struct stage_row, gpu_throttled, TEXT, "GPU Throttled");

static struct pt_column column_of(const struct pt_metric_view *view, pt_u32 n)
{
    return (struct pt_column){.key = view->key,
                              .label = view->label,
                              .show = view->show,
                              .type = PT_FIELD_VALUE,
                              .offset = (pt_u32)(offsetof(struct stage_row, shown) + n * sizeof(struct pt_value))};
}

void pt_build_resources(const struct pt_build *b)
{
    const struct pt_metric_view *shown[PT_MAX_COLUMNS];
    struct pt_column columns[PT_MAX_COLUMNS] = {first_column};
    pt_u32 n = 1;
    if (!b->profile->run)
        return;
    for (const struct pt_metric_view *view = pt_metric_views; view->key && n < PT_MAX_COLUMNS - 1; view++)
        if (view->group == PT_GROUP_RESOURCES && *view->label && is_known_anywhere(b, view)) {
            shown[n] = view;
            columns[n] = column_of(view, n);
            n++;
        }
    const bool knows_gpus = knows_throttling(b);
    if (knows_gpus)
        columns[n] = last_column;
    struct pt_table *table;
    struct pt_panel *panel = pt_doc_table(b->doc, "resources", "Resources", columns, n + knows_gpus, &table);
    for (size_t i = 0; i < b->doc->stages.n; i++) {
        const struct pt_doc_stage *stage = b->doc->stages.items[i];
        if (!has_samples(stage, b))
            continue;
        struct stage_row row = {.stage = stage->name};
        for (pt_u32 j = 1; j < n; j++)
            row.shown[j] = pt_view_value(&b->profile->metrics, stage->index, shown[j]);
        if (knows_gpus)
            row.gpu_throttled = throttle_value(b, stage->index);
        pt_table_add(table, &row);
    }
    b->doc->resources = table->n_rows ? panel : NULL;
}
