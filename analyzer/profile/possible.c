/* SPDX-License-Identifier: MIT
 *
 * Owns: the bounds of values, by their names and units. Threads: one. Never: changes a value that is possible.
 */
#include "possible.h"

#include <math.h>
#include <string.h>

#include "util/text/path.h"

/* Clocks that are read one after the other, and the end of a process, which the kernel still counts for it. */
#define SLACK_S 0.005
#define SLACK_SHARE 0.02
#define ROUNDING 1e-6

struct bounds {
    double least, most;
};

static const char too_much[] = "refused: more than is possible was measured";
static const char too_little[] = "refused: less than nothing was measured";

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

static bool is_share_of_cpus(const char *name)
{
    return (has(name, "cpu.") || has(name, "cpu_")) && !has(name, "machine") && !has(name, "neighbours") &&
           !has(name, "others") && !has(name, "pressure") && !has(name, "used") && !has(name, "threshold");
}

/* What something has become, held against what it was: less is possible, down to nothing, and so is any more. */
static bool is_change(const char *name)
{
    return has(name, "change_percent");
}

/* Some have no whole that they are a share of. */
static double most_percent(const char *name, double cpus)
{
    if (has(name, "per_kernel") || has(name, "imbalance") || is_change(name))
        return INFINITY;
    return is_share_of_cpus(name) ? 100 * cpus : 100;
}

static struct bounds bounds_of(const char *name, enum pt_show show, double cpus)
{
    const bool may_fall = has(name, "growth") || show == PT_SHOW_NUMBER;
    const double least = is_change(name) ? -100 : may_fall ? -INFINITY : 0;
    return (struct bounds){least, show == PT_SHOW_PERCENT ? most_percent(name, cpus) : INFINITY};
}

static void hold(struct pt_value *value, struct bounds bounds, double slack)
{
    const double number = pt_value_number(*value);
    if (value->type != PT_VALUE_REAL && value->type != PT_VALUE_INTEGER)
        return;
    if (number > bounds.most)
        *value = number <= bounds.most + slack ? pt_real(bounds.most) : pt_unknown(too_much);
    else if (number < bounds.least)
        *value = number >= bounds.least - ROUNDING ? pt_real(bounds.least) : pt_unknown(too_little);
}

/* ---- named values ---- */

/* The unit is the last word of a name, but for what was made of samples. */
static enum pt_show unit_of(const char *name)
{
    static const struct {
        const char *end;
        enum pt_show show;
    } units[] = {{"percent", PT_SHOW_PERCENT},      {"percent.max", PT_SHOW_PERCENT}, {"percent.mean", PT_SHOW_PERCENT},
                 {"percent.last", PT_SHOW_PERCENT}, {"_s", PT_SHOW_SECONDS},          {".bytes", PT_SHOW_BYTES},
                 {".calls", PT_SHOW_COUNT},         {".count", PT_SHOW_COUNT}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (pt_ends_with(name, units[i].end))
            return units[i].show;
    return PT_SHOW_NUMBER;
}

static void hold_values(struct pt_metrics *metrics, double cpus)
{
    for (size_t i = 0; i < metrics->values.n; i++) {
        struct pt_metric *metric = &metrics->values.items[i];
        const struct bounds bounds = bounds_of(metric->name, unit_of(metric->name), cpus);
        hold(&metric->value, bounds, SLACK_SHARE * bounds.most);
    }
}

/* ---- tables ---- */

/* The column that holds how long a row's thread, or all its threads together, or its process lived. */
static pt_u32 life_column(const struct pt_table *table)
{
    static const char *const keys[] = {"lives_s", "lived_s", "wall_s"};
    pt_u32 column = table->n_columns;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && column == table->n_columns; i++)
        column = pt_table_column(table, keys[i]);
    return column;
}

/* What one thread or process did in its life: its CPU time is that of all its threads. */
static void hold_life(const struct pt_table *table, struct pt_value *row, double cpus)
{
    const pt_u32 life = life_column(table);
    if (life == table->n_columns || row[life].type == PT_VALUE_UNKNOWN)
        return;
    const double lived_s = pt_value_number(row[life]);
    for (pt_u32 i = 0; i < table->n_columns; i++) {
        const char *key = table->columns[i].key;
        if (i == life || table->columns[i].show != PT_SHOW_SECONDS || !strcmp(key, "start_s"))
            continue;
        const double most_s = lived_s * (!strcmp(key, "cpu_s") ? cpus : 1);
        hold(&row[i], (struct bounds){0, most_s}, SLACK_S + SLACK_SHARE * most_s);
    }
}

static void hold_table(struct pt_table *table, double cpus)
{
    for (pt_u32 j = 0; j < table->n_columns; j++) {
        const struct bounds bounds = bounds_of(table->columns[j].key, table->columns[j].show, cpus);
        for (size_t i = 0; i < table->n_rows; i++)
            hold(table->values + i * table->n_columns + j, bounds, SLACK_SHARE * bounds.most);
    }
    for (size_t i = 0; i < table->n_rows; i++)
        hold_life(table, table->values + i * table->n_columns, cpus);
}

void pt_profile_refuse_impossible(struct pt_profile *profile)
{
    const double cpus = pt_profile_most_cpus(profile);
    hold_values(&profile->metrics, cpus);
    for (size_t i = 0; i < profile->metrics.tables.n; i++)
        hold_table(profile->metrics.tables.items[i], cpus);
}
