/* SPDX-License-Identifier: MIT
 *
 * cpu_samples.c - Owns: which samples an export gets. One thread. Never: shows a sample under a time that it has not.
 */
#include "cpu_samples.h"

#include <stdlib.h>
#include <string.h>

#include "export/selection.h"
#include "facts/cpu_time/kernel_counts.h"
#include "facts/facts.h"
#include "merge/feed.h"
#include "run_file/read.h"
#include "util/auto.h"
#include "util/mem.h"

static bool is_of_wanted(const struct pt_export_options *options, const struct pt_cpu_data *data, pt_u32 thread)
{
    return !options->filter.pid || data->threads[thread].pid == options->filter.pid;
}

static bool is_wanted(const struct pt_export_options *options, const struct pt_cpu_data *data, pt_u32 thread,
                      pt_i64 t_ns)
{
    const struct pt_filter *filter = &options->filter;
    return is_of_wanted(options, data, thread) && t_ns >= filter->from_ns &&
           (!filter->until_ns || t_ns < filter->until_ns);
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct pt_shown_sample *x = a, *y = b;
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

static size_t list_samples(const struct pt_cpu_timeline *cpu, const struct pt_export_options *options,
                           const struct pt_cpu_view *view, struct pt_shown_sample *list)
{
    size_t n = 0;
    for (size_t i = 0; i < cpu->data->n_samples; i++) {
        const struct pt_cpu_sample *sample = &cpu->data->samples[i];
        const pt_i64 t_ns = (pt_i64)sample->t_ns + cpu->shift_ns;
        if (is_wanted(options, cpu->data, sample->thread, t_ns))
            list[n++] = (struct pt_shown_sample){.t_ns = t_ns > 0 ? (pt_u64)t_ns : 0,
                                                 .thread = sample->thread,
                                                 .node = sample->node,
                                                 .s = view->shared_s[sample->thread]};
    }
    return n;
}

static size_t list_waits(const struct pt_cpu_timeline *cpu, pt_u32 thread, const struct pt_export_options *options,
                         struct pt_shown_sample *list)
{
    const struct pt_off_weights weights = pt_off_cpu_weigh(cpu, thread);
    const struct pt_window window = pt_window_of(&options->filter);
    size_t n = 0;
    for (size_t i = cpu->first[thread]; i < cpu->first[thread + 1]; i++) {
        const struct pt_cpu_state *wait = &cpu->states[i];
        const pt_i64 length_ns = wait->end_ns - wait->start_ns;
        pt_i64 start_ns = wait->start_ns, end_ns = wait->end_ns;
        if (!(wait->flags & PT_CPU_HAS_STACK) || !is_of_wanted(options, cpu->data, thread) ||
            !pt_window_clip(&window, &start_ns, &end_ns))
            continue;
        const double share = length_ns > 0 ? (double)(end_ns - start_ns) / (double)length_ns : 1;
        if (share > 0)
            list[n++] = (struct pt_shown_sample){.t_ns = start_ns > 0 ? (pt_u64)start_ns : 0,
                                                 .thread = thread,
                                                 .node = wait->node,
                                                 .s = share * pt_off_cpu_s(&weights, wait),
                                                 .reason = pt_off_cpu_reason(wait)};
    }
    return n;
}

struct sources {
    struct pt_run_info *run;
    struct pt_stages stages;
    struct pt_thread_ids ids;
    struct pt_cpu_profiles profiles;
    struct pt_symbols *symbols;
};

static void show_stage(const struct sources *sources, pt_u32 stage, const struct pt_export_options *options,
                       struct pt_cpu_samples *found, struct pt_export_summary *summary)
{
    const struct pt_cpu_timeline *cpu = &sources->profiles.timelines[stage];
    struct pt_cpu_data *data = cpu->data;
    struct pt_cpu_view view;
    pt_cpu_view_of(&view, data, sources->symbols);
    PT_AUTO(pt_freep)
    struct pt_shown_sample *list = pt_malloc((data->n_samples + data->n_waits + 1) * sizeof *list);
    found->view = &view; // cppcheck-suppress autoVariables
    found->samples = list;
    if (options->off_cpu) {
        for (pt_u32 i = 1; i < data->n_threads; i++)
            found->n += list_waits(cpu, i, options, list + found->n);
    } else {
        found->n = list_samples(cpu, options, &view, list);
        summary->left_out += data->totals.samples > data->n_samples ? data->totals.samples - data->n_samples : 0;
    }
    qsort(list, found->n, sizeof *list, by_thread_and_time);
    sum_up(found, data, summary);
    found->show(found);
    found->view = NULL; /* it ends here */
    found->samples = NULL;
    pt_cpu_view_close(&view);
}

/* ---- all of them ---- */

static void close_sources(struct sources *sources)
{
    pt_symbols_closep(&sources->symbols);
    pt_cpu_profiles_close(&sources->profiles);
    pt_thread_ids_close(&sources->ids);
    pt_stages_free(&sources->stages);
    pt_run_info_free(sources->run);
}

static int find_reasons(struct sources *sources, struct pt_session *session, struct pt_error *err)
{
    struct pt_event event;
    int got;
    const struct pt_filter filter = {.categories = PT_CALL_CATEGORIES};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filter, err);
    while ((got = feed ? feed->next(feed, &event, err) : -1) > 0)
        if (event.desc->role == PT_ROLE_SPAN)
            pt_cpu_profiles_call(&sources->profiles, pt_thread_number(&sources->ids, event.thread), &event,
                                 pt_time_part_of_event(&event));
    return got;
}

/* What a hypervisor took is in no sample's time, as in reports. */
static int bind_to_kernels_count(struct sources *sources, struct pt_session *session, struct pt_error *err)
{
    struct pt_event event;
    struct pt_kernel_counts counts;
    int got;
    const struct pt_filter filter = {.categories = PT_CATEGORY_CLOCK};
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(session, &filter, err);
    pt_kernel_counts_open(&counts, &sources->ids);
    while ((got = feed ? feed->next(feed, &event, err) : -1) > 0)
        if (event.desc->kind == PT_KIND_thread_clock)
            pt_kernel_counts_read(&counts, &event);
    if (got >= 0)
        pt_kernel_counts_settle(&counts, &sources->profiles, NULL);
    pt_kernel_counts_close(&counts);
    return got;
}

/* How many have a profile, or -1. */
static int open_sources(struct sources *sources, struct pt_session *session, const struct pt_export_options *options,
                        struct pt_error *err)
{
    int found = 0;
    if (pt_run_info_read(session->path, &sources->run, err) < 0)
        return -1;
    sources->symbols = pt_symbols_of_session(session);
    pt_stages_build(&sources->stages, session, sources->run);
    pt_thread_ids_open(&sources->ids, session);
    pt_cpu_profiles_open(&sources->profiles, session, &sources->stages, &sources->ids, options->filter.stage);
    for (pt_u32 i = 0; i < sources->profiles.n_stages; i++) {
        const struct pt_cpu_data *data = sources->profiles.timelines[i].data;
        if (*sources->profiles.problems[i].text) {
            *err = sources->profiles.problems[i];
            return -1;
        }
        found += data && (!options->off_cpu || data->header.flags & PT_CPU_WAITS);
    }
    return found;
}

static int none_found(const struct pt_session *session, const struct pt_export_options *options, struct pt_error *err)
{
    const char *of_stage = options->filter.stage ? " of this stage" : "";
    if (session->why_no_run)
        return pt_fail_code(err, 2, "the run has no CPU profile%s: %s", of_stage, session->why_no_run);
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
        result = none_found(session, options, err);
    else if (found > 0)
        result =
            options->off_cpu ? find_reasons(&sources, session, err) : bind_to_kernels_count(&sources, session, err);
    for (pt_u32 i = 0; result >= 0 && i < sources.profiles.n_stages; i++)
        if (sources.profiles.timelines[i].data)
            show_stage(
                &sources, i, options,
                &(struct pt_cpu_samples){.stage = sources.stages.items[i].name, .context = context, .show = show},
                summary);
    close_sources(&sources);
    return result;
}

void pt_cpu_threads_each(struct pt_session *session, const struct pt_export_options *options, void *context,
                         void (*show)(void *context, const struct pt_cpu_thread *thread, pt_i64 start_ns))
{
    struct sources sources = {0};
    struct pt_error err = {0};
    const int found = open_sources(&sources, session, options, &err);
    for (pt_u32 i = 0; found > 0 && i < sources.profiles.n_stages; i++) {
        const struct pt_cpu_data *data = sources.profiles.timelines[i].data;
        const pt_i64 shift_ns = sources.profiles.timelines[i].shift_ns;
        for (size_t j = 1; data && j < data->n_threads; j++)
            show(context, &data->threads[j], (pt_i64)data->threads[j].start_ns + shift_ns);
    }
    close_sources(&sources);
}
