/* SPDX-License-Identifier: MIT
 *
 * Owns: the tables made from views.def. Threads: any. Never: computes more than a unit.
 */
#include "views.h"

const char *const pt_section_labels[PT_SECTION__COUNT] = {
    [PT_SECTION_TIME] = "Time",
    [PT_SECTION_TRAINING] = "Training",
    [PT_SECTION_GPU] = "GPU",
    [PT_SECTION_CPU] = "CPU",
    [PT_SECTION_THREADS] = "Threads and waits",
    [PT_SECTION_FILES] = "Files and calls",
    [PT_SECTION_NETWORK] = "Network",
    [PT_SECTION_MEMORY] = "Memory",
    [PT_SECTION_RANGES] = "Ranges",
    [PT_SECTION_PROCESSES] = "Processes",
};

#define ALL SIZE_MAX
#define ROW(place, id, name, key, label, section, most, look, by)                                                      \
    [PT_VIEW_##id] = {                                                                                                 \
        PT_VIEW_OF_##place, #id, name, key, label, PT_SECTION_##section, most, PT_TABLE_##look, PT_STATS_##by,         \
    },

const struct pt_table_view pt_table_views[PT_VIEW__COUNT] = {
#define METRIC(...)
#define TABLE(...) ROW(STAGE, __VA_ARGS__)
#define ANALYSIS_TABLE(...) ROW(STAGE, __VA_ARGS__)
#define GPU_TABLE(...) ROW(GPU, __VA_ARGS__)
#define DEVICE_TABLE(...) ROW(DEVICE, __VA_ARGS__)
#include "views.def"
#undef METRIC
#undef TABLE
#undef ANALYSIS_TABLE
#undef GPU_TABLE
#undef DEVICE_TABLE
};

const struct pt_metric_view pt_metric_views[] = {
#define METRIC(group, key, metric, unit, label) {PT_GROUP_##group, #key, metric, PT_SHOW_##unit, label},
#define TABLE(...)
#define ANALYSIS_TABLE(...)
#define GPU_TABLE(...)
#define DEVICE_TABLE(...)
#include "views.def"
#undef METRIC
#undef TABLE
#undef ANALYSIS_TABLE
#undef GPU_TABLE
#undef DEVICE_TABLE
    {.key = NULL},
};
