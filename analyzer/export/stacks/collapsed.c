/* SPDX-License-Identifier: MIT
 *
 * collapsed.c - CPU samples as lines "stage;thread;outermost;...;innermost samples", what flamegraph.pl, inferno and
 * speedscope read; waits the same with "[reason]" as the innermost and microseconds for samples.
 *
 * Owns: the lines. One thread. Never: lets a name break its line.
 */

#include "util/auto.h"
#include "util/str.h"
#include "util/whole.h"
#include "util/text/path.h"
#include "cpu_samples.h"

/* A semicolon or a line's end in a name would make two of one. */
static void put_name(struct pt_str *line, const char *name)
{
    for (; *name; name++) {
        const bool breaks = *name == ';' || (unsigned char)*name < ' ' || *name == 127;
        pt_str_char(line, !breaks ? *name : *name == ';' ? ':' : '?');
    }
}

/* Of Python with its line, as py-spy has it: "load (data.py:41)". */
static void put_stack(struct pt_str *line, const struct pt_cpu_view *view, pt_u32 frame)
{
    struct {
        PT_VEC(pt_u32);
    } frames = {0};
    for (; frame; frame = pt_cpu_shown_caller(view, frame))
        pt_vec_push(&frames, frame);
    for (size_t i = frames.n; i--;) {
        const struct pt_cpu_function *function = &view->functions.items[pt_cpu_shown(view, frames.items[i])];
        pt_str_char(line, ';');
        put_name(line, function->name);
        if (function->code != PT_CODE_SCRIPT)
            continue;
        pt_str_add(line, " (");
        put_name(line, pt_telling_name(function->file));
        pt_str_printf(line, ":%u)", pt_cpu_line(view, frames.items[i], 0));
    }
    free(frames.items);
}

static void put_line(const struct pt_cpu_samples *all, const struct pt_cpu_thread *thread, pt_u32 frame,
                     const char *reason, pt_u64 count)
{
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    put_name(&line, all->stage);
    pt_str_char(&line, ';');
    put_name(&line, thread->comm);
    pt_str_printf(&line, "-%u/%u", thread->pid, thread->tid);
    put_stack(&line, all->view, frame);
    if (reason)
        pt_str_printf(&line, ";[%s]", reason);
    pt_str_printf(&line, " %llu\n", (unsigned long long)count);
    pt_sink_put(all->context, line.text, line.n);
}

struct line {
    pt_u32 frame;
    const char *reason;
    pt_u64 samples;
    double s;
};

/* Samples of one thread, equal stacks added up, in the order in which they were first seen. */
static void put_thread(const struct pt_cpu_samples *all, size_t from, size_t until)
{
    struct pt_map by_stack = {0};
    struct {
        PT_VEC(struct line);
    } lines = {0};
    for (size_t i = from; i < until; i++) {
        const struct pt_shown_sample *sample = &all->samples[i];
        const pt_u32 frame = all->view->frame_of[sample->node];
        pt_u64 *slot = pt_map_at(&by_stack, (pt_u64)frame << 32 | (pt_u32)(uintptr_t)sample->reason);
        if (!*slot) {
            pt_vec_push(&lines, ((struct line){.frame = frame, .reason = sample->reason}));
            *slot = lines.n;
        }
        lines.items[*slot - 1].samples++;
        lines.items[*slot - 1].s += sample->s;
    }
    const struct pt_cpu_thread *thread = &all->view->data->threads[all->samples[from].thread];
    for (size_t i = 0; i < lines.n; i++) {
        const struct line *line = &lines.items[i];
        put_line(all, thread, line->frame, line->reason, line->reason ? pt_whole(line->s * 1e6 + 0.5) : line->samples);
    }
    free(lines.items);
    pt_map_fini(&by_stack);
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
