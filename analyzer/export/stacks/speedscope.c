/* SPDX-License-Identifier: MIT
 *
 * speedscope.c - CPU samples as speedscope shows them: one profile for each thread, in the order of time.
 *
 * In the format all frames come before the profiles, so the names of a stage are collected in a pass over its view
 * first. Owns: the document. One thread. Never: writes a number that is not finite.
 */

#include "util/auto.h"
#include "util/json/json_writer.h"
#include "util/str.h"
#include "cpu_samples.h"

struct document {
    struct pt_json json;
    pt_u32 first_frame;      /* of the stage at hand, in the list of frames: its functions, then its reasons */
    struct pt_map by_reason; /* of the current stage: reason -> number of the frame after the functions, from 1 */
};

/* ---- frames ---- */

/* Numbered in the order in which they first occur: the same in both passes. */
static pt_u32 reason_of(struct document *document, const char *reason, bool *ret_is_new)
{
    pt_u64 *number = pt_map_at(&document->by_reason, (uintptr_t)reason);
    *ret_is_new = !*number;
    if (!*number)
        *number = document->by_reason.n;
    return (pt_u32)*number;
}

static void put_reasons(const struct pt_cpu_samples *all)
{
    struct document *document = all->context;
    bool is_new;
    for (size_t i = 0; i < all->n && all->samples[i].reason; i++) {
        reason_of(document, all->samples[i].reason, &is_new);
        if (!is_new)
            continue;
        PT_AUTO(pt_str_fini) struct pt_str name = {0};
        pt_str_printf(&name, "[%s]", all->samples[i].reason);
        pt_json_object_inline(&document->json, NULL);
        pt_json_text(&document->json, "name", pt_str_text(&name));
        pt_json_end(&document->json);
    }
    pt_map_fini(&document->by_reason);
}

static void put_frames(const struct pt_cpu_samples *all)
{
    struct document *document = all->context;
    for (size_t i = 1; i < all->view->functions.n; i++) {
        const struct pt_cpu_function *function = &all->view->functions.items[i];
        pt_json_object_inline(&document->json, NULL);
        pt_json_text(&document->json, "name", function->name);
        if (function->file || function->module)
            pt_json_text(&document->json, "file", function->file ? function->file : function->module);
        if (function->line)
            pt_json_u64(&document->json, "line", function->line);
        pt_json_end(&document->json);
    }
    put_reasons(all);
}

/* ---- profiles ---- */

static void put_stack(struct document *document, const struct pt_cpu_view *view, const struct pt_shown_sample *sample)
{
    struct pt_json *json = &document->json;
    const pt_u32 first = document->first_frame;
    bool is_new;
    struct {
        PT_VEC(pt_u32);
    } functions = {0};
    for (pt_u32 frame = view->frame_of[sample->node]; frame; frame = pt_cpu_shown_caller(view, frame))
        pt_vec_push(&functions, first + pt_cpu_shown(view, frame) - 1);
    pt_json_array_inline(json, NULL);
    for (size_t i = functions.n; i--;)
        pt_json_u64(json, NULL, functions.items[i]);
    if (sample->reason)
        pt_json_u64(json, NULL, first + view->functions.n - 2 + reason_of(document, sample->reason, &is_new));
    pt_json_end(json);
    free(functions.items);
}

static void put_thread(const struct pt_cpu_samples *all, size_t from, size_t until)
{
    struct document *document = all->context;
    struct pt_json *json = &document->json;
    const pt_u32 number = all->samples[from].thread;
    const struct pt_cpu_thread *thread = &all->view->data->threads[number];
    double us = 0;
    for (size_t i = from; i < until; i++)
        us += all->samples[i].s * 1e6;
    PT_AUTO(pt_str_fini) struct pt_str name = {0};
    pt_str_printf(&name, "%s: %s %u/%u", all->stage, thread->comm, thread->pid, thread->tid);
    pt_json_object(json, NULL);
    pt_json_text(json, "type", "sampled");
    pt_json_text(json, "name", pt_str_text(&name));
    pt_json_text(json, "unit", "microseconds");
    pt_json_u64(json, "startValue", 0);
    pt_json_f64(json, "endValue", us);
    pt_json_array(json, "samples");
    for (size_t i = from; i < until; i++)
        put_stack(document, all->view, &all->samples[i]);
    pt_json_end(json);
    pt_json_array_inline(json, "weights");
    for (size_t i = from; i < until; i++)
        pt_json_f64(json, NULL, all->samples[i].s * 1e6);
    pt_json_end(json);
    pt_json_end(json);
}

static void put_profiles(const struct pt_cpu_samples *all)
{
    struct document *document = all->context;
    for (size_t i = 0, end; i < all->n; i = end) {
        for (end = i; end < all->n && all->samples[end].thread == all->samples[i].thread; end++)
            ;
        put_thread(all, i, end);
    }
    document->first_frame += (pt_u32)(all->view->functions.n - 1 + document->by_reason.n);
    pt_map_fini(&document->by_reason);
}

int pt_export_speedscope(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                         struct pt_export_summary *ret_summary, struct pt_error *err)
{
    PT_AUTO(pt_freep) struct document *document = pt_calloc(1, sizeof *document);
    struct pt_export_summary again = {0};
    struct pt_json *json = &document->json;
    *ret_summary = (struct pt_export_summary){0};
    pt_json_init(json, pt_sink_put, sink, false);
    pt_json_object(json, NULL);
    pt_json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    pt_json_text(json, "exporter", "proftrace");
    pt_json_text(json, "name", session->name);
    pt_json_object(json, "shared");
    pt_json_array(json, "frames");
    if (pt_cpu_samples_each(session, options, document, put_frames, ret_summary, err) < 0)
        return -1;
    pt_json_end(json);
    pt_json_end(json);
    pt_json_array(json, "profiles");
    if (pt_cpu_samples_each(session, options, document, put_profiles, &again, err) < 0)
        return -1;
    pt_json_end(json);
    pt_json_end(json);
    return pt_json_close(json);
}
