/* SPDX-License-Identifier: MIT
 *
 * Owns: what of a training lies behind the backward pass in the code of its loop: logs, metrics, callbacks. Threads:
 * one. Never: goes by names: a library's loop calls a callback as a program's own does.
 */
#include "behind_steps.h"

#include <stdlib.h>
#include <string.h>

#include "facts/python/frames.h"
#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"

/* Python's stack and the native one are taken some microseconds apart, so that some samples in a hundred join two
 * halves that are none of one whole: the line behind that of a backward pass has some of its samples. So a line must
 * have a good part of what the line with the most backward passes of its function has, in samples and in share. */
#define LEAST_OF_MOST 0.25

struct line {
    pt_u32 function, number;
    double samples, backward;
};

struct lines {
    PT_VEC(struct line);
    struct pt_map by_place; /* function and line -> index, plus 1 */
};

static struct line *line_of(struct lines *lines, const struct pt_cpu_frame *frame)
{
    pt_u64 *slot = pt_map_at(&lines->by_place, (pt_u64)frame->function << 32 | frame->line);
    if (!*slot) {
        pt_vec_push(lines, ((struct line){.function = frame->function, .number = frame->line}));
        *slot = lines->n;
    }
    return &lines->items[*slot - 1];
}

static void add_samples(struct lines *lines, const struct pt_cpu_view *view, pt_u32 frame, const pt_u16 *codes,
                        double samples)
{
    const bool is_backward = codes[frame] & PT_IN_BACKWARD;
    for (pt_u32 at = frame; at; at = view->frames.items[at].parent) {
        if (!pt_cpu_is_script(view, at) || codes[at] & PT_IN_BACKWARD)
            continue;
        struct line *line = line_of(lines, &view->frames.items[at]);
        line->samples += samples;
        line->backward += is_backward ? samples : 0;
    }
}

static bool trains(const struct line *line, const struct line *most)
{
    return line->backward > 0 && line->backward >= LEAST_OF_MOST * most->backward &&
           line->backward / line->samples >= LEAST_OF_MOST * most->backward / most->samples;
}

/* By function, the last of its lines that backward passes are called from; 0 = there is none. A program may train
 * twice: what is before the second training is behind nothing. */
static pt_u32 *last_backward(const struct lines *lines, size_t n_functions)
{
    PT_AUTO(pt_freep) struct line *most = pt_calloc(n_functions + 1, sizeof *most);
    pt_u32 *last = pt_calloc(n_functions + 1, sizeof *last);
    for (size_t i = 0; i < lines->n; i++)
        if (lines->items[i].backward > most[lines->items[i].function].backward)
            most[lines->items[i].function] = lines->items[i];
    for (size_t i = 0; i < lines->n; i++)
        if (trains(&lines->items[i], &most[lines->items[i].function]) &&
            lines->items[i].number > last[lines->items[i].function])
            last[lines->items[i].function] = lines->items[i].number;
    return last;
}

/* A comprehension is a function of its own, whose caller is not always known: its lines are those of the whole. */
static void give_to_parts(const struct pt_cpu_view *view, pt_u32 *last)
{
    for (size_t i = 1; i < view->functions.n; i++) {
        const struct pt_cpu_function *part = &view->functions.items[i];
        if (part->code != PT_CODE_SCRIPT || !part->file || !part->name[pt_python_named_length(part->name)])
            continue;
        for (size_t j = 1; j < view->functions.n && !last[i]; j++) {
            const struct pt_cpu_function *whole = &view->functions.items[j];
            if (last[j] && j != i && whole->file && !strcmp(whole->file, part->file) &&
                pt_python_is_part_of(part->name, whole->name))
                last[i] = last[j];
        }
    }
}

/* Part of each step, though it is called between its phases. */
static bool is_of_step(const struct pt_cpu_view *view, pt_u32 frame)
{
    const char *file = pt_cpu_function_of(view, frame)->file;
    return file && (strstr(file, "/torch/nn/utils/clip_grad") || strstr(file, "/torch/optim/lr_scheduler"));
}

void pt_mark_behind_steps(const struct pt_cpu_view *view, pt_u16 *codes)
{
    struct lines lines = {0};
    for (size_t i = 0; i < view->data->n_counts; i++) {
        const struct pt_cpu_count *count = &view->data->counts[i];
        add_samples(&lines, view, view->frame_of[count->node], codes, (double)count->samples);
    }
    PT_AUTO(pt_freep) pt_u32 *last = last_backward(&lines, view->functions.n);
    give_to_parts(view, last);
    for (pt_u32 i = 1; i < view->frames.n; i++) { /* a parent's number is less than its child's */
        const struct pt_cpu_frame *frame = &view->frames.items[i];
        const bool is_behind =
            pt_cpu_is_script(view, i) && last[frame->function] && frame->line > last[frame->function];
        const bool goes_on = codes[frame->parent] & PT_IN_BEHIND || is_behind;
        codes[i] |= goes_on && !(pt_cpu_is_script(view, i) && is_of_step(view, i)) ? PT_IN_BEHIND : 0;
    }
    free(lines.items);
    pt_map_fini(&lines.by_place);
}
