/* SPDX-License-Identifier: MIT
 *
 * Owns: the name of code that was made at run time and whose callers are not known: its stacks end there, as it has no
 * tables for unwinding; but its library may tell by ranges of its own when it runs. Threads: one. Never: names it where
 * ranges cover less than a quarter of it (they are of one thread, it runs in several).
 */
#include "generated.h"

#include <string.h>

#define LEAST_COVERED 0.25

static const struct {
    const char *range, *name; /* how its ranges begin; what its code is called */
} libraries[] = {{"dnnl::", "JIT code (oneDNN)"}};

static double ranges_s(const struct pt_metrics *metrics, pt_u32 stage, const char *beginning)
{
    const struct pt_table *table = pt_view_table(metrics, stage, PT_VIEW_ranges);
    double s = 0;
    for (size_t i = 0; table && i < table->n_rows; i++)
        if (!strncmp(pt_table_cell(table, i, "name").text, beginning, strlen(beginning)))
            s += pt_table_number(table, i, "total_s");
    return s;
}

/* 0 = there is none. */
static pt_u32 function_called(const struct pt_cpu_view *view, const char *name)
{
    for (size_t i = 1; i < view->functions.n; i++)
        if (view->functions.items[i].code == PT_CODE_JIT && !view->functions.items[i].has_name &&
            !strcmp(view->functions.items[i].name, name))
            return (pt_u32)i;
    return 0;
}

static double ran_s(const struct pt_cpu_view *view, pt_u32 function)
{
    double s = 0;
    for (size_t i = 0; i < view->data->n_counts; i++) {
        const struct pt_cpu_count *count = &view->data->counts[i];
        if (view->frames.items[view->frame_of[count->node]].function == function)
            s += (double)count->samples * view->sample_s[count->thread];
    }
    return s;
}

void pt_cpu_name_generated(struct pt_profile *profile, pt_u32 stage, struct pt_cpu_view *view)
{
    const pt_u32 nameless = function_called(view, "JIT code");
    for (size_t i = 0; nameless && i < sizeof libraries / sizeof *libraries; i++) {
        const double covered_s = ranges_s(&profile->metrics, stage, libraries[i].range);
        if (!(covered_s > 0) || covered_s < LEAST_COVERED * ran_s(view, nameless))
            continue;
        const pt_u32 same = function_called(view, libraries[i].name);
        for (size_t frame = 1; same && frame < view->frames.n; frame++)
            if (view->frames.items[frame].function == nameless)
                view->frames.items[frame].function = same;
        view->functions.items[nameless].name = libraries[i].name;
        return;
    }
}
