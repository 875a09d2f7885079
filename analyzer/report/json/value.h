/* SPDX-License-Identifier: MIT
 *
 * value.h - values, lists and tables of a profile as JSON: no number that JSON has not (NaN), no null without the
 * reason where it is known: `key` is followed by `key_reason`.
 */
#ifndef PT_REPORT_JSON_VALUE_H
#define PT_REPORT_JSON_VALUE_H

#include "profile/metrics.h"
#include "util/json/json_writer.h"

/* Rounded to the digits that a measurement has: more would only make reports differ. `key` NULL = in an array. */
void pt_json_value(struct pt_json *json, const char *key, enum pt_show show, struct pt_value value);
/* The values of a group, in the order of views.def; without an object around them. */
void pt_json_group(struct pt_json *json, const struct pt_metrics *metrics, pt_u32 stage, enum pt_metric_group group);
/* An array of objects, at most `most`. Where there are more, `key_left_out` says how many. */
void pt_json_table(struct pt_json *json, const char *key, const struct pt_table *table, size_t most);
/* A cell as a member of the object that is open; nothing for columns that no report has. */
void pt_json_cell(struct pt_json *json, const struct pt_column *column, struct pt_value value);
/* One row of it as members of the object that is open. */
void pt_json_row(struct pt_json *json, const struct pt_table *table, size_t row);
/* An array of texts, closed by NULL. */
void pt_json_words(struct pt_json *json, const char *key, const char *const *words);

#endif
