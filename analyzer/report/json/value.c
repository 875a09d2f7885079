/* SPDX-License-Identifier: MIT
 *
 * Owns: how a value looks in report.json. Threads: any. Never: writes a substitute for an unknown value.
 */
#include "value.h"

#include <math.h>

static double rounded(double number, enum pt_show show)
{
    const double steps = show == PT_SHOW_SECONDS ? 1e9 : show == PT_SHOW_PERCENT || show == PT_SHOW_MIB ? 1e3 : 1e6;
    return fabs(number) < 1e9 ? round(number * steps) / steps : number;
}

void pt_json_value(struct pt_json *json, const char *key, enum pt_show show, struct pt_value value)
{
    switch (value.type) {
    case PT_VALUE_UNKNOWN:
        pt_json_null(json, key);
        if (key && value.reason) {
            char reason_key[128];
            snprintf(reason_key, sizeof reason_key, "%s_reason", key);
            pt_json_text(json, reason_key, value.reason);
        }
        break;
    case PT_VALUE_INTEGER:
        pt_json_i64(json, key, value.integer);
        break;
    case PT_VALUE_REAL:
        pt_json_f64(json, key, rounded(value.real, show));
        break;
    case PT_VALUE_TEXT:
        pt_json_text(json, key, value.text);
        break;
    case PT_VALUE_BOOL:
        pt_json_bool(json, key, value.integer != 0);
        break;
    }
}

void pt_json_group(struct pt_json *json, const struct pt_metrics *metrics, pt_u32 stage, enum pt_metric_group group)
{
    for (const struct pt_metric_view *view = pt_metric_views; view->key; view++)
        if (view->group == group)
            pt_json_value(json, view->key, view->show, pt_view_value(metrics, stage, view));
}

void pt_json_cell(struct pt_json *json, const struct pt_column *column, struct pt_value value)
{
    if (column->show != PT_SHOW_NOWHERE)
        pt_json_value(json, column->key, column->show, value);
}

void pt_json_row(struct pt_json *json, const struct pt_table *table, size_t row)
{
    for (pt_u32 i = 0; i < table->n_columns; i++)
        pt_json_cell(json, &table->columns[i], pt_table_row(table, row)[i]);
}

void pt_json_table(struct pt_json *json, const char *key, const struct pt_table *table, size_t most)
{
    pt_json_array(json, key);
    for (size_t row = 0; row < table->n_rows && row < most; row++) {
        pt_json_object(json, NULL);
        pt_json_row(json, table, row);
        pt_json_end(json);
    }
    pt_json_end(json);
    const pt_u64 left_out = table->rows_left_out + (table->n_rows > most ? table->n_rows - most : 0);
    if (left_out) {
        char name[64];
        snprintf(name, sizeof name, "%s_left_out", key);
        pt_json_u64(json, name, left_out);
    }
}

void pt_json_words(struct pt_json *json, const char *key, const char *const *words)
{
    pt_json_array(json, key);
    for (; *words; words++)
        pt_json_text(json, NULL, *words);
    pt_json_end(json);
}
