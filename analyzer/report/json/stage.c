/* SPDX-License-Identifier: MIT
 *
 * Owns: the array "stages": outcome, time account, values and tables of each. Threads: any. Never: leaves out a stage
 * that did not run.
 */
#include "stage.h"

#include "facts/wait_kind.h"
#include "profile/layers_missing.h"
#include "profile/views.h"
#include "report/outcome.h"
#include "util/whole.h"
#include "gpu.h"
#include "training.h"
#include "value.h"

static void put_time(const struct pt_report_json *r, pt_u32 stage)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_json_object(r->json, "time");
    pt_json_value(r->json, "wall_s", PT_SHOW_SECONDS, pt_metrics_get(&r->profile->metrics, scope, "time.wall_s"));
    for (int part = 0; part < PT_PART__COUNT; part++)
        pt_json_value(r->json, pt_time_parts[part].key, PT_SHOW_SECONDS,
                      pt_metrics_get(&r->profile->metrics, scope, pt_time_parts[part].metric));
    if (pt_metrics_get(&r->profile->metrics, scope, "account.of").type == PT_VALUE_TEXT)
        pt_json_value(r->json, "of", PT_SHOW_TEXT, pt_metrics_get(&r->profile->metrics, scope, "account.of"));
    pt_json_end(r->json);
}

static struct pt_value log_of(const struct pt_report_json *r, const struct pt_run_stage *run)
{
    if (run->log)
        return pt_text(run->log);
    if (!r->profile->run->is_pipeline)
        return pt_unknown("the output of a single command is kept with proftrace run --log");
    return pt_unknown(run->status && !strcmp(run->status, "skipped") ? "the stage was skipped" : "no log was opened");
}

static void put_resources(const struct pt_report_json *r, pt_u32 stage, const struct pt_run_stage *run)
{
    pt_json_object(r->json, "resources");
    pt_json_group(r->json, &r->profile->metrics, stage, PT_GROUP_RESOURCES);
    pt_json_end(r->json);
    pt_json_value(r->json, "log", PT_SHOW_TEXT, log_of(r, run));
    pt_json_array(r->json, "left_running");
    for (pt_u32 i = 0; i < run->n_left; i++) {
        pt_json_object(r->json, NULL);
        pt_json_value(r->json, "pid", PT_SHOW_COUNT, pt_real(run->left[i].pid));
        pt_json_text(r->json, "command", run->left[i].command);
        pt_json_end(r->json);
    }
    pt_json_end(r->json);
}

static void put_python(const struct pt_report_json *r, pt_u32 stage)
{
    const struct pt_metrics *metrics = &r->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    if (!pt_metrics_has(metrics, scope, "python.samples"))
        return;
    const struct pt_value samples = pt_metrics_get(metrics, scope, "python.samples");
    const struct pt_table *functions = pt_view_table(metrics, stage, PT_VIEW_python_functions);
    pt_json_object(r->json, "python");
    pt_json_value(r->json, "samples", PT_SHOW_COUNT, samples);
    if (functions)
        pt_json_table(r->json, "functions", functions, pt_table_views[PT_VIEW_python_functions].most);
    else
        pt_json_value(r->json, "functions", PT_SHOW_TEXT, samples);
    pt_json_end(r->json);
}

static void put_tables(const struct pt_report_json *r, pt_u32 stage)
{
    for (enum pt_view view = 0; view < PT_VIEW__COUNT; view++) {
        const struct pt_table_view *row = &pt_table_views[view];
        const struct pt_table *table = pt_view_table(&r->profile->metrics, stage, view);
        const bool may_be_empty = view == PT_VIEW_calls || view == PT_VIEW_thread_time;
        if (row->place == PT_VIEW_OF_STAGE && *row->key && table && (table->n_rows || may_be_empty))
            pt_json_table(r->json, row->key, table, row->most);
    }
}

/* Which families of calls its processes did not all record: a table without them says nothing of them. */
static void put_not_recorded(const struct pt_report_json *r, pt_u32 stage)
{
    const char *why[PT_LAYER__COUNT];
    int n = 0;
    for (int layer = 0; layer < PT_LAYER__COUNT; layer++)
        n += (why[layer] = pt_profile_why_not_recorded(r->profile, stage, 1u << layer)) != NULL;
    if (!n)
        return;
    pt_json_object(r->json, "not_recorded");
    for (int layer = 0; layer < PT_LAYER__COUNT; layer++)
        if (why[layer])
            pt_json_text(r->json, pt_layer_name((enum pt_layer)layer), why[layer]);
    pt_json_end(r->json);
}

static void put_stage(const struct pt_report_json *r, pt_u32 stage)
{
    const struct pt_run_stage *run = pt_profile_run_of(r->profile, stage);
    pt_json_object(r->json, NULL);
    pt_json_text(r->json, "stage", r->profile->stages.items[stage].name);
    pt_json_text(r->json, "status", pt_report_stage_status(r->profile, stage, r->arena));
    pt_json_value(r->json, "exit", PT_SHOW_TEXT, pt_report_stage_exit(r->profile, stage, r->arena));
    pt_json_value(r->json, "reason", PT_SHOW_TEXT, pt_report_stage_reason(r->profile, stage, r->arena));
    pt_json_value(r->json, "duration_s", PT_SHOW_SECONDS, pt_report_stage_duration(r->profile, stage));
    if (run && run->stop_ns >= 0)
        pt_json_value(r->json, "stop_s", PT_SHOW_SECONDS, pt_seconds(pt_whole_signed(run->stop_ns)));
    pt_json_group(r->json, &r->profile->metrics, stage, PT_GROUP_STAGE);
    pt_json_words(r->json, "command", pt_report_stage_command(r->profile, stage, r->arena));
    put_not_recorded(r, stage);
    put_time(r, stage);
    if (run)
        put_resources(r, stage, run);
    pt_json_gpu(r, stage);
    if (r->profile->stages.items[stage].root) { /* traced */
        pt_json_object(r->json, "heap");
        pt_json_group(r->json, &r->profile->metrics, stage, PT_GROUP_HEAP);
        pt_json_end(r->json);
        pt_json_training(r, stage);
        put_python(r, stage);
        put_tables(r, stage);
    }
    pt_json_end(r->json);
}

void pt_json_stages(const struct pt_report_json *r)
{
    pt_json_array(r->json, "stages");
    for (pt_u32 stage = 0; stage < r->profile->stages.n; stage++)
        if (pt_report_json_wants(r, stage))
            put_stage(r, stage);
    pt_json_end(r->json);
}
