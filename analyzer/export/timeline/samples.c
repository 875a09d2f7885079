/* SPDX-License-Identifier: MIT
 *
 * timeline/samples.c - what the launcher saw of each stage from outside, as counters beside the processes.
 *
 * Owns nothing. One thread. Never: shows a value that is not known, or samples of stages when one process is asked for.
 */
#include "samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile/open.h"
#include "util/auto.h"
#include "util/whole.h"
#include "util/text/path.h"
#include "show.h"

/* What counts up is shown as what it was per second. */
static double value_at(const struct pt_run_stage *stage, enum pt_resource resource, pt_u32 i)
{
    const double *samples = stage->resources[resource].samples;
    if (pt_resources[resource].merge != PT_MERGE_TOTAL)
        return samples[i];
    const double before_s = i ? stage->sample_t_s[i - 1] : 0, before = i ? samples[i - 1] : 0;
    const double seconds = stage->sample_t_s[i] - before_s;
    return seconds > 0 && samples[i] >= before ? (samples[i] - before) / seconds : NAN;
}

static const char *unit_of(const struct pt_resource_row *row)
{
    static const char *const units[][2] = {{"_percent", "%"}, {"_bytes", "bytes"}, {"_w", "W"},
                                           {"_c", "C"},       {"_j", "J"},         {"_s", "s"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (pt_ends_with(row->id, units[i][0]))
            return units[i][1];
    return "count";
}

static void show_resource(struct pt_timeline *timeline, const struct pt_run_stage *stage, pt_u32 number,
                          enum pt_resource resource, double shift_ns)
{
    const struct pt_resource_row *row = &pt_resources[resource];
    char name[200];
    snprintf(name, sizeof name, "%.80s: %s (%s%s)", stage->name && *stage->name ? stage->name : "stage", row->label,
             unit_of(row), row->merge == PT_MERGE_TOTAL ? " per s" : "");
    const struct pt_timeline_counter counter = {.process = &timeline->stages,
                                                .name = name,
                                                .series = "value",
                                                .key = PT_TIMELINE_KEY_SAMPLE + number * PT_RESOURCE__COUNT + resource};
    for (pt_u32 i = 0; stage->resources[resource].samples && i < stage->n_samples; i++) {
        const double value = value_at(stage, resource, i);
        const double at_ns = shift_ns + stage->start_ns + stage->sample_t_s[i] * 1e9;
        if (isfinite(value) && at_ns >= 0 && at_ns < 9e18 && pt_window_has(&timeline->window, pt_whole_signed(at_ns)))
            pt_timeline_show_counter(timeline, &counter, pt_whole_signed(at_ns), value);
    }
}

void pt_timeline_samples(struct pt_timeline *timeline, const struct pt_filter *filter)
{
    PT_AUTO(pt_run_info_freep) struct pt_run_info *run = NULL;
    struct pt_error err = {0};
    if (filter->pid || !timeline->session->path || pt_run_info_read(timeline->session->path, &run, &err) < 0 || !run)
        return; /* reports say that run.json is damaged */
    struct pt_timeline_process *stages = &timeline->stages;
    stages->timeline = timeline;
    const double shift_ns = -pt_run_clock_ahead_ns(run, timeline->session);
    for (pt_u32 i = 0; i < run->n_stages; i++) {
        if (!run->stages[i].n_samples || (filter->stage && strcmp(run->stages[i].name, filter->stage) != 0))
            continue;
        if (!stages->pid) {
            stages->pid = pt_timeline_ids_new_pid(&timeline->ids);
            timeline->writer->process(timeline, stages, "resources of stages", "");
            timeline->summary->processes++;
        }
        for (int resource = 0; resource < PT_RESOURCE__COUNT; resource++)
            show_resource(timeline, &run->stages[i], i, (enum pt_resource)resource, shift_ns);
    }
}
