/* SPDX-License-Identifier: MIT
 *
 * figures.h - the figures of a stage that a later run is held against: counts first, which do not depend on what else
 * the machine does.
 */
#ifndef PT_REGRESSION_FIGURES_H
#define PT_REGRESSION_FIGURES_H

#include <cjson/cJSON.h>
#include <stdbool.h>

enum pt_figure_kind { PT_FIGURE_COUNT, PT_FIGURE_BYTES, PT_FIGURE_WALL, PT_FIGURE_CPU, PT_FIGURE_BENCHMARK };

/* By its name: "read.calls", "read.bytes", "heap.allocations", "wall_s", "cpu_s", "benchmark_s". */
enum pt_figure_kind pt_figure_kind_of(const char *name);
static inline bool pt_figure_is_time(enum pt_figure_kind kind)
{
    return kind == PT_FIGURE_WALL || kind == PT_FIGURE_CPU || kind == PT_FIGURE_BENCHMARK;
}

/* "s", "bytes" or "count" */
static inline const char *pt_figure_unit(enum pt_figure_kind kind)
{
    return pt_figure_is_time(kind) ? "s" : kind == PT_FIGURE_BYTES ? "bytes" : "count";
}

/* What differs by less nobody would notice. */
double pt_figure_floor(const char *name);

/* {name: number} of a stage of a report. Left out are calls that are made as often as somebody is late: waits and
 * locks. `ret_unknown` is {name: reason} of those that the report does not know. */
cJSON *pt_figures_of(const cJSON *document, const cJSON *stage, cJSON **ret_unknown);
/* Of an entry of a baseline, with its "figures" and "unknown"; NAN = not known. A call that it does not name was never
 * made. */
double pt_figure_value(const cJSON *entry, const char *name);

#endif
