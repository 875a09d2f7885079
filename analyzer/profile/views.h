/* SPDX-License-Identifier: MIT
 *
 * views.h - views.def as data: which values and tables reports show, under which names, where, and how much of them.
 */
#ifndef PT_PROFILE_VIEWS_H
#define PT_PROFILE_VIEWS_H

#include <stddef.h>

#include "value.h"

enum pt_view {
#define METRIC(...)
#define TABLE(id, ...) PT_VIEW_##id,
#define ANALYSIS_TABLE(id, ...) PT_VIEW_##id,
#define GPU_TABLE(id, ...) PT_VIEW_##id,
#define DEVICE_TABLE(id, ...) PT_VIEW_##id,
#include "views.def"
#undef METRIC
#undef TABLE
#undef ANALYSIS_TABLE
#undef GPU_TABLE
#undef DEVICE_TABLE
    PT_VIEW__COUNT
};

/* Where people look for something about a stage; the order in which reports have them. */
enum pt_section {
    PT_SECTION_TIME,
    PT_SECTION_TRAINING,
    PT_SECTION_GPU,
    PT_SECTION_CPU,
    PT_SECTION_THREADS,
    PT_SECTION_FILES,
    PT_SECTION_NETWORK,
    PT_SECTION_MEMORY,
    PT_SECTION_RANGES,
    PT_SECTION_PROCESSES,
    PT_SECTION__COUNT
};
extern const char *const pt_section_labels[PT_SECTION__COUNT];

enum pt_view_place { PT_VIEW_OF_STAGE, PT_VIEW_OF_GPU, PT_VIEW_OF_DEVICE };
enum pt_table_look { PT_TABLE_OPEN, PT_TABLE_FOLDED, PT_TABLE_HIDDEN };
enum pt_stats_by {
    PT_STATS_CALL,
    PT_STATS_FILE,
    PT_STATS_STACK,
    PT_STATS_THREAD,
    PT_STATS_SIZE,
    PT_STATS_LINE,
    PT_STATS_NONE,
};

struct pt_table_view {
    enum pt_view_place place;
    const char *id, *name, *key, *label; /* see views.def */
    enum pt_section section;
    size_t most;
    enum pt_table_look look;
    enum pt_stats_by by;
};
extern const struct pt_table_view pt_table_views[PT_VIEW__COUNT];

enum pt_metric_group {
    PT_GROUP_STAGE,
    PT_GROUP_HEAP,
    PT_GROUP_TRAINING,
    PT_GROUP_RESOURCES,
    PT_GROUP_GPU,
    PT_GROUP_GPU_LOSS,  /* in the object "gpu" where some work was not seen */
    PT_GROUP_GPU_SHOWN, /* for people: report.json has them with the devices */
};

struct pt_metric_view {
    enum pt_metric_group group;
    const char *key, *metric;
    enum pt_show show;
    const char *label;
};
/* Closed by a row without key. */
extern const struct pt_metric_view pt_metric_views[];

#endif
