/* SPDX-License-Identifier: MIT
 *
 * Owns: the object "gpu": a list of devices with their tables, then the tables of all. Threads: any. Never: leaves the
 * object out where GPU work was not seen: the reason is said.
 */
#include "gpu.h"

#include <string.h>

#include "model/window.h"
#include "profile/views.h"
#include "value.h"

/* The rows of one device, without the column that says so. */
static void put_rows_of(const struct pt_report_json *r, const struct pt_table_view *view, const struct pt_table *table,
                        double device)
{
    const pt_u32 column = table ? pt_table_column(table, "device") : 0;
    pt_json_array(r->json, view->key);
    for (size_t row = 0; table && row < table->n_rows; row++) {
        const struct pt_value *cells = pt_table_row(table, row);
        if (pt_value_number(cells[column]) != device)
            continue;
        pt_json_object(r->json, NULL);
        for (pt_u32 i = 0; i < table->n_columns; i++)
            if (i != column)
                pt_json_cell(r->json, &table->columns[i], cells[i]);
        pt_json_end(r->json);
    }
    pt_json_end(r->json);
}

static void put_devices(const struct pt_report_json *r, pt_u32 stage)
{
    const struct pt_metrics *metrics = &r->profile->metrics;
    const struct pt_table *devices = pt_view_rows(metrics, stage, PT_VIEW_gpu_devices);
    pt_json_array(r->json, "devices");
    for (size_t row = 0; devices && row < devices->n_rows; row++) {
        const double id = pt_value_number(pt_table_row(devices, row)[pt_table_column(devices, "id")]);
        pt_json_object(r->json, NULL);
        pt_json_row(r->json, devices, row);
        for (enum pt_view view = 0; view < PT_VIEW__COUNT; view++)
            if (pt_table_views[view].place == PT_VIEW_OF_DEVICE)
                put_rows_of(r, &pt_table_views[view], pt_view_rows(metrics, stage, view), id);
        pt_json_end(r->json);
    }
    pt_json_end(r->json);
}

/* A list of points per device. */
static void put_memory_over_time(const struct pt_report_json *r, pt_u32 stage)
{
    const struct pt_table *table = pt_view_rows(&r->profile->metrics, stage, PT_VIEW_gpu_memory_over_time);
    if (!table)
        return;
    const pt_u32 column = pt_table_column(table, "device");
    pt_json_array(r->json, "memory_over_time");
    for (size_t row = 0; row < table->n_rows; row++) {
        const struct pt_value *cells = pt_table_row(table, row);
        const double device = pt_value_number(cells[column]);
        if (!row || device != pt_value_number(pt_table_row(table, row - 1)[column])) {
            pt_json_object(r->json, NULL);
            pt_json_value(r->json, "device", PT_SHOW_NUMBER, cells[column]);
            pt_json_array(r->json, "points");
        }
        pt_json_object(r->json, NULL);
        for (pt_u32 i = 0; i < table->n_columns; i++)
            if (i != column)
                pt_json_cell(r->json, &table->columns[i], cells[i]);
        pt_json_end(r->json);
        if (row + 1 == table->n_rows || device != pt_value_number(pt_table_row(table, row + 1)[column])) {
            pt_json_end(r->json);
            pt_json_end(r->json);
        }
    }
    pt_json_end(r->json);
}

/* Levels need what was allocated before a window. */
static void put_no_memory(const struct pt_report_json *r)
{
    static const char *const keys[] = {"memory", "pools", "memory_over_time"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        pt_json_value(r->json, keys[i], PT_SHOW_BYTES, pt_unknown(pt_window_no_counters));
}

void pt_json_gpu(const struct pt_report_json *r, pt_u32 stage)
{
    const struct pt_metrics *metrics = &r->profile->metrics;
    if (!pt_metrics_has(metrics, pt_scope_stage(stage), "gpu.source"))
        return;
    pt_json_object(r->json, "gpu");
    pt_json_group(r->json, metrics, stage, PT_GROUP_GPU);
    if (pt_metrics_has(metrics, pt_scope_stage(stage), "gpu.not_seen_s"))
        pt_json_group(r->json, metrics, stage, PT_GROUP_GPU_LOSS);
    put_devices(r, stage);
    for (enum pt_view view = 0; view < PT_VIEW__COUNT; view++) {
        const struct pt_table *table = pt_view_rows(metrics, stage, view);
        if (table && pt_table_views[view].place == PT_VIEW_OF_GPU)
            pt_json_table(r->json, pt_table_views[view].key, table, pt_table_views[view].most);
    }
    put_memory_over_time(r, stage);
    if (pt_session_is_window(r->profile->session))
        put_no_memory(r);
    pt_json_end(r->json);
}
