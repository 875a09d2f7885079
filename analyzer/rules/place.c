/* SPDX-License-Identifier: MIT
 *
 * Owns: how a place is found. Threads: one. Never: guesses: what no sample and no stack names is unknown, with the
 * reason.
 */
#include "place.h"

#include <string.h>

#include "profile/views.h"

static const char no_profile[] = "needs the CPU profile of proftrace run";

static struct pt_place unknown(const char *reason)
{
    return (struct pt_place){.language = "native", .reason = reason};
}

static const char *text_of(const struct pt_table *table, const struct pt_value *row, const char *key)
{
    const pt_u32 column = pt_table_column(table, key);
    return column < table->n_columns && row[column].type == PT_VALUE_TEXT ? row[column].text : NULL;
}

/* The function that ran most; names in brackets stand for code without any. */
static struct pt_place hottest_function(struct pt_profile *profile, pt_u32 stage)
{
    const struct pt_table *table = pt_view_rows(&profile->metrics, stage, PT_VIEW_cpu_functions);
    if (!table)
        return unknown(no_profile);
    const struct pt_value *row = pt_table_row(table, 0);
    const pt_u32 line = pt_table_column(table, "line"), share = pt_table_column(table, "self_percent");
    const char *function = text_of(table, row, "function"), *file = text_of(table, row, "file");
    const char *module = text_of(table, row, "module");
    const bool is_named = function && function[0] != '[';
    const char *at =
        file ? pt_metrics_format(&profile->metrics, " (%s:%.0f)", pt_base_name(file), pt_value_number(row[line]))
        : module && is_named ? pt_metrics_format(&profile->metrics, " (%s)", pt_base_name(module))
                             : "";
    return (struct pt_place){
        .function = is_named ? function : NULL,
        .file = file,
        .line = file ? (pt_u32)pt_value_number(row[line]) : 0,
        .module = module,
        .language = "native",
        .text = function ? pt_metrics_format(&profile->metrics, "%s%s, %.0f %% of the CPU time", function, at,
                                             pt_value_number(row[share]))
                         : NULL,
        .reason = is_named ? NULL : "the code that ran most has no symbols",
    };
}

/* Where the main thread waits in a part of its time. */
static struct pt_place waiting_place(struct pt_profile *profile, pt_u32 stage, enum pt_time_part part)
{
    const char *metric = pt_metrics_format(&profile->metrics, "where.%s", pt_time_parts[part].id);
    const struct pt_value where = pt_metrics_get(&profile->metrics, pt_scope_stage(stage), metric);
    struct pt_place place = unknown(where.type == PT_VALUE_UNKNOWN ? where.reason : "the stack's frames are not kept");
    place.text = where.type == PT_VALUE_TEXT ? where.text : NULL;
    return place;
}

struct pt_place pt_place_of(struct pt_profile *profile, const struct pt_finding *finding)
{
    if (finding->stage < 0)
        return unknown("it is about the run as a whole");
    const pt_u32 stage = (pt_u32)finding->stage;
    switch (finding->place_kind) {
    case PT_PLACE_NOWHERE:
        break;
    case PT_PLACE_WAIT:
        return waiting_place(profile, stage, finding->part);
    case PT_PLACE_CPU:
        return hottest_function(profile, stage);
    case PT_PLACE_HEAP:
    case PT_PLACE_FORK:
        return unknown(no_profile);
    }
    return unknown("it lies in no single place of the code");
}
