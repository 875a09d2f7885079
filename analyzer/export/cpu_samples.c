/* SPDX-License-Identifier: MIT
 *
 * cpu_samples.c - Owns: which samples an export gets. One thread. Never: shows a sample under a time that it has not.
 */
#include "cpu_samples.h"

#include <stdlib.h>
#include <string.h>

#include "../model/run_info.h"
#include "../util/auto.h"
#include "../util/mem.h"

static bool is_wanted(const struct pt_export_options *options, const struct pt_cpu_data *data,
                      const struct pt_cpu_sample *sample, pt_i64 t_ns)
{
    const struct pt_filter *filter = &options->filter;
    return (!filter->pid || data->threads[sample->thread].pid == filter->pid) && t_ns >= filter->from_ns &&
           (!filter->until_ns || t_ns < filter->until_ns);
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct pt_cpu_sample *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static void sum_up(const struct pt_cpu_samples *found, const struct pt_cpu_data *data,
                   struct pt_export_summary *summary)
{
    struct pt_map pids = {0};
    for (size_t i = 0; i < found->n; i++) {
        if (i && found->samples[i].thread == found->samples[i - 1].thread)
            continue;
        summary->tracks++;
        pt_map_at(&pids, data->threads[found->samples[i].thread].pid);
    }
    summary->processes += pids.n;
    summary->slices += found->n;
    summary->left_out += data->totals.samples > data->n_samples ? data->totals.samples - data->n_samples : 0;
    pt_map_fini(&pids);
}

static void show_stage(const struct pt_session *session, const struct pt_export_options *options,
                       struct pt_cpu_samples *found, void (*show)(const struct pt_cpu_samples *samples),
                       struct pt_export_summary *summary)
{
    const struct pt_cpu_data *data = found->view->data;
    /* Runs start at an instant of real time, and so do profiles. */
    const pt_i64 shift_ns = (pt_i64)(data->header.begin_realtime_ns - session->start_realtime_ns);
    PT_AUTO(pt_freep) struct pt_cpu_sample *list = pt_malloc((data->n_samples + 1) * sizeof *list);
    for (size_t i = 0; i < data->n_samples; i++) {
        const pt_i64 t_ns = (pt_i64)((pt_u64)shift_ns + data->samples[i].t_ns);
        if (!is_wanted(options, data, &data->samples[i], t_ns))
            continue;
        list[found->n] = data->samples[i];
        list[found->n++].t_ns = t_ns > 0 ? (pt_u64)t_ns : 0;
    }
    qsort(list, found->n, sizeof *list, by_thread_and_time);
    found->samples = list;
    sum_up(found, data, summary);
    show(found);
}

int pt_cpu_samples_each(const struct pt_session *session, const struct pt_export_options *options, void *context,
                        void (*show)(const struct pt_cpu_samples *samples), struct pt_export_summary *summary,
                        struct pt_error *err)
{
    PT_AUTO(pt_run_info_freep) struct pt_run_info *run = NULL;
    const char *stage = options->filter.stage;
    bool is_found = false;
    if (pt_run_info_read(session->path, &run, err) < 0)
        return -1;
    for (pt_u32 i = 0; run && i < run->n_stages; i++) {
        struct pt_cpu_view view;
        struct pt_error broken = {0};
        const char *name = run->stages[i].name ? run->stages[i].name : "";
        if (stage && strcmp(stage, name) != 0)
            continue;
        if (!pt_cpu_view_open(&view, session->path, i, &broken)) {
            if (!broken.text[0])
                continue;
            *err = broken;
            return -1;
        }
        is_found = true;
        struct pt_cpu_samples found = {.stage = name, .view = &view, .context = context};
        show_stage(session, options, &found, show, summary);
        pt_cpu_view_close(&view);
    }
    if (is_found)
        return 0;
    return pt_fail_code(err, 2, "the run has no CPU profile%s; commands that are started with proftrace run have one",
                        stage ? " of this stage" : "");
}

int pt_sink_put(void *sink, const char *bytes, size_t n)
{
    while (n) {
        const size_t piece = n < PT_SINK_ROOM ? n : PT_SINK_ROOM;
        char *room = pt_sink_room(sink);
        memcpy(room, bytes, piece);
        pt_sink_wrote(sink, room + piece);
        bytes += piece;
        n -= piece;
    }
    return pt_sink_failed(sink) ? -1 : 0;
}
