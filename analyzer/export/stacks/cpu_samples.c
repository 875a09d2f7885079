/* SPDX-License-Identifier: MIT
 *
 * cpu_samples.c - Owns: which samples an export gets. One thread. Never: shows a sample under a time that it has not.
 */
#include "cpu_samples.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/cpu/off_cpu.h"
#include "cpu_file/read.h"
#include "merge/stream.h"
#include "run_file/read.h"
#include "util/auto.h"
#include "util/mem.h"

static bool is_wanted(const struct pt_export_options *options, const struct pt_cpu_data *data, pt_u32 thread,
                      pt_i64 t_ns)
{
    const struct pt_filter *filter = &options->filter;
    return (!filter->pid || data->threads[thread].pid == filter->pid) && t_ns >= filter->from_ns &&
           (!filter->until_ns || t_ns < filter->until_ns);
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct pt_cpu_shown *x = a, *y = b;
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
    pt_map_fini(&pids);
}

/* ---- one stage ---- */

struct source {
    struct pt_cpu_data *data; /* NULL = the stage has no profile, or is not wanted */
    struct pt_cpu_threads threads;
    struct pt_off_cpu off;
};

static size_t list_samples(const struct source *source, const struct pt_export_options *options,
                           const struct pt_cpu_view *view, struct pt_cpu_shown *list)
{
    size_t n = 0;
    for (size_t i = 0; i < source->data->n_samples; i++) {
        const struct pt_cpu_sample *sample = &source->data->samples[i];
        const pt_i64 t_ns = (pt_i64)sample->t_ns + source->threads.shift_ns;
        if (is_wanted(options, source->data, sample->thread, t_ns))
            list[n++] = (struct pt_cpu_shown){.t_ns = t_ns > 0 ? (pt_u64)t_ns : 0,
                                              .thread = sample->thread,
                                              .node = sample->node,
                                              .s = view->sample_s[sample->thread]};
    }
    return n;
}

static size_t list_waits(const struct source *source, const struct pt_export_options *options,
                         struct pt_cpu_shown *list)
{
    size_t n = 0;
    for (size_t i = 0; i < source->off.n; i++) {
        const struct pt_off_wait *wait = &source->off.waits[i];
        if (is_wanted(options, source->data, wait->thread, wait->t_ns))
            list[n++] = (struct pt_cpu_shown){.t_ns = wait->t_ns > 0 ? (pt_u64)wait->t_ns : 0,
                                              .thread = wait->thread,
                                              .node = wait->node,
                                              .s = wait->s,
                                              .reason = pt_off_cpu_reason(wait)};
    }
    return n;
}

static void show_stage(struct source *source, const struct pt_export_options *options, struct pt_cpu_samples *found,
                       void (*show)(const struct pt_cpu_samples *samples), struct pt_export_summary *summary)
{
    const struct pt_cpu_data *data = source->data;
    struct pt_cpu_view view;
    pt_cpu_view_of(&view, source->data);
    PT_AUTO(pt_freep)
    struct pt_cpu_shown *list = pt_malloc((data->n_samples + data->n_waits + 1) * sizeof *list);
    found->view = &view; // cppcheck-suppress autoVariables
    found->samples = list;
    if (options->off_cpu) {
        pt_off_cpu_weigh(&source->off);
        found->n = list_waits(source, options, list);
        found->unsampled_s = source->off.unsampled_s;
    } else {
        found->n = list_samples(source, options, &view, list);
        summary->left_out += data->totals.samples > data->n_samples ? data->totals.samples - data->n_samples : 0;
    }
    qsort(list, found->n, sizeof *list, by_thread_and_time);
    sum_up(found, data, summary);
    show(found);
    found->view = NULL; /* it ends here */
    found->samples = NULL;
    pt_cpu_view_close(&view);
}

/* ---- all of them ---- */

struct sources {
    struct pt_run_info *run;
    struct pt_stages stages;
    struct source *items;
    pt_u32 n;
};

static void close_sources(struct sources *sources)
{
    for (pt_u32 i = 0; i < sources->n; i++) {
        pt_off_cpu_close(&sources->items[i].off);
        pt_cpu_threads_close(&sources->items[i].threads);
        pt_cpu_data_free(sources->items[i].data);
    }
    free(sources->items);
    pt_stages_free(&sources->stages);
    pt_run_info_free(sources->run);
}

static int find_reasons(const struct sources *sources, struct pt_session *session, struct pt_error *err)
{
    struct pt_event event;
    int got;
    const struct pt_filter filter = {.categories = pt_analysis_cpu.categories};
    PT_AUTO(pt_stream_closep) struct pt_stream *stream = pt_session_stream(session, &filter, err);
    while ((got = stream ? stream->next(stream, &event, err) : -1) > 0) {
        const pt_u32 stage = sources->stages.of_process[event.process->index];
        if (stage < sources->n)
            pt_off_cpu_event(&sources->items[stage].off, &event);
    }
    return got;
}

static const char *name_of(const struct sources *sources, pt_u32 stage)
{
    return sources->run->stages[stage].name ? sources->run->stages[stage].name : "";
}

/* The launcher's stages come first, in its order. How many have a profile, or -1. */
static int open_sources(struct sources *sources, struct pt_session *session, const struct pt_export_options *options,
                        struct pt_error *err)
{
    int found = 0;
    if (pt_run_info_read(session->path, &sources->run, err) < 0)
        return -1;
    pt_stages_build(&sources->stages, session, sources->run);
    sources->n = sources->run ? sources->run->n_stages : 0;
    sources->items = pt_calloc(sources->n, sizeof *sources->items);
    for (pt_u32 i = 0; i < sources->n; i++) {
        struct source *source = &sources->items[i];
        if (options->filter.stage && strcmp(options->filter.stage, name_of(sources, i)) != 0)
            continue;
        if (pt_cpu_data_read(session->path, i, &source->data, err) < 0)
            return -1;
        pt_cpu_threads_open(&source->threads, source->data, session->start_realtime_ns);
        if (options->off_cpu)
            pt_off_cpu_open(&source->off, &source->threads);
        found += source->data && (!options->off_cpu || source->data->header.flags & PT_CPU_WAITS);
    }
    return found;
}

static int none_found(const struct pt_export_options *options, struct pt_error *err)
{
    const char *of_stage = options->filter.stage ? " of this stage" : "";
    if (options->off_cpu)
        return pt_fail_code(err, 2,
                            "the run has no stacks of waits%s; commands that are started with proftrace run have them, "
                            "with kernel.perf_event_paranoid=1 or CAP_PERFMON",
                            of_stage);
    return pt_fail_code(err, 2, "the run has no CPU profile%s; commands that are started with proftrace run have one",
                        of_stage);
}

int pt_cpu_samples_each(struct pt_session *session, const struct pt_export_options *options, void *context,
                        void (*show)(const struct pt_cpu_samples *samples), struct pt_export_summary *summary,
                        struct pt_error *err)
{
    struct sources sources = {0};
    const int found = open_sources(&sources, session, options, err);
    int result = found < 0 ? -1 : 0;
    if (!found)
        result = none_found(options, err);
    else if (found > 0 && options->off_cpu)
        result = find_reasons(&sources, session, err);
    for (pt_u32 i = 0; result >= 0 && i < sources.n; i++)
        if (sources.items[i].data)
            show_stage(&sources.items[i], options,
                       &(struct pt_cpu_samples){.stage = name_of(&sources, i), .context = context}, show, summary);
    close_sources(&sources);
    return result;
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
