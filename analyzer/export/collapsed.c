/* SPDX-License-Identifier: MIT
 *
 * collapsed.c - CPU samples as lines "stage;thread;outermost;...;innermost samples", what flamegraph.pl, inferno and
 * speedscope read.
 *
 * Owns: the lines. One thread. Never: lets a name break its line.
 */

#include "../util/auto.h"
#include "../util/str.h"
#include "cpu_samples.h"

/* A semicolon or a line's end in a name would make two of one. */
static void put_name(struct pt_str *line, const char *name)
{
    for (; *name; name++) {
        const bool breaks = *name == ';' || (unsigned char)*name < ' ' || *name == 127;
        pt_str_char(line, !breaks ? *name : *name == ';' ? ':' : '?');
    }
}

static void put_stack(struct pt_str *line, const struct pt_cpu_view *view, pt_u32 frame)
{
    struct {
        PT_VEC(const char *);
    } names = {0};
    for (; frame; frame = view->frames.items[frame].parent)
        pt_vec_push(&names, view->functions.items[view->frames.items[frame].function].name);
    for (size_t i = names.n; i--;) {
        pt_str_char(line, ';');
        put_name(line, names.items[i]);
    }
    free(names.items);
}

static void put_line(const struct pt_cpu_samples *all, const struct pt_cpu_thread *thread, pt_u32 frame, pt_u64 samples)
{
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    put_name(&line, all->stage);
    pt_str_char(&line, ';');
    put_name(&line, thread->comm);
    pt_str_printf(&line, "-%u/%u", thread->pid, thread->tid);
    put_stack(&line, all->view, frame);
    pt_str_printf(&line, " %llu\n", (unsigned long long)samples);
    pt_sink_put(all->context, line.text, line.n);
}

/* Samples of one thread, equal stacks added up, in the order in which they were first seen. */
static void put_thread(const struct pt_cpu_samples *all, size_t from, size_t until)
{
    struct pt_map by_frame = {0};
    for (size_t i = from; i < until; i++)
        ++*pt_map_at(&by_frame, all->view->frame_of[all->samples[i].node]);
    const struct pt_cpu_thread *thread = &all->view->data->threads[all->samples[from].thread];
    for (size_t i = 0; i < by_frame.n; i++)
        put_line(all, thread, (pt_u32)by_frame.entries[i].key, by_frame.entries[i].value);
    pt_map_fini(&by_frame);
}

static void put_stage(const struct pt_cpu_samples *all)
{
    for (size_t i = 0, end; i < all->n; i = end) {
        for (end = i; end < all->n && all->samples[end].thread == all->samples[i].thread; end++)
            ;
        put_thread(all, i, end);
    }
}

int pt_export_collapsed(struct pt_session *session, const struct pt_export_options *options, struct pt_sink *sink,
                        struct pt_export_summary *ret_summary, struct pt_error *err)
{
    *ret_summary = (struct pt_export_summary){0};
    return pt_cpu_samples_each(session, options, sink, put_stage, ret_summary, err);
}
