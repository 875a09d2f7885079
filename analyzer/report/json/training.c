/* SPDX-License-Identifier: MIT
 *
 * Owns: the object "training" of a stage. Threads: any. Never: is there for a program that only imports modules.
 */
#include "training.h"

#include <string.h>

#include "profile/views.h"
#include "value.h"

/* What any program in Python may have. */
static bool is_of_training(const char *phase)
{
    static const char *const others[] = {"import", "garbage_collection", "function", "checkpoint"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(phase, others[i]))
            return false;
    return true;
}

static bool trains(const struct pt_metrics *metrics, pt_u32 stage, const struct pt_table *phases)
{
    if (pt_value_number(pt_metrics_get(metrics, pt_scope_stage(stage), "steps.count")) > 0)
        return true;
    for (size_t row = 0; phases && row < phases->n_rows; row++)
        if (is_of_training(pt_table_cell(phases, row, "phase").text))
            return true;
    return false;
}

/* The first four are always there; others are what phases tell, not steps that the program marked itself. */
static void put_values(struct pt_json *json, const struct pt_metrics *metrics, pt_u32 stage)
{
    pt_u32 n = 0;
    for (const struct pt_metric_view *view = pt_metric_views; view->key; view++)
        if (view->group == PT_GROUP_TRAINING &&
            (n++ < 4 || pt_metrics_has(metrics, pt_scope_stage(stage), view->metric)))
            pt_json_value(json, view->key, view->show, pt_view_value(metrics, stage, view));
}

/* The first column is the key of each. */
static void put_phases(struct pt_json *json, const struct pt_table *phases)
{
    pt_json_object(json, "phases");
    for (size_t row = 0; phases && row < phases->n_rows; row++) {
        pt_json_object(json, pt_table_cell(phases, row, "phase").text);
        for (pt_u32 i = 1; i < phases->n_columns; i++)
            pt_json_cell(json, &phases->columns[i], pt_table_row(phases, row)[i]);
        pt_json_end(json);
    }
    pt_json_end(json);
}

static void put_table(const struct pt_report_json *r, pt_u32 stage, const char *key, enum pt_view view)
{
    const struct pt_table *table = pt_view_rows(&r->profile->metrics, stage, view);
    if (table)
        pt_json_table(r->json, key, table, pt_table_views[view].most);
}

void pt_json_training(const struct pt_report_json *r, pt_u32 stage)
{
    const struct pt_metrics *metrics = &r->profile->metrics;
    const struct pt_table *phases = pt_view_rows(metrics, stage, PT_VIEW_phases);
    if (!trains(metrics, stage, phases))
        return;
    pt_json_object(r->json, "training");
    put_values(r->json, metrics, stage);
    put_phases(r->json, phases);
    put_table(r, stage, "per_epoch", PT_VIEW_training_epochs);
    put_table(r, stage, "validations", PT_VIEW_training_validations);
    put_table(r, stage, "slowest_steps", PT_VIEW_slowest_steps);
    put_table(r, stage, "processes", PT_VIEW_training_processes);
    pt_json_end(r->json);
}
