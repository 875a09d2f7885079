/* SPDX-License-Identifier: MIT
 *
 * torch/projection.c - ranges and steps as the GPU saw them: on each stream, from the first to the last piece of work
 * that was launched inside of the range, whenever that work ran.
 *
 * Owns: the ranges whose work may still come, the last launches. One thread. Never: keeps more than LINKS launches
 * and MOST_STEPS steps: a range is written when its launches are forgotten. */
#include "projection.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "line.h"

#define LINKS (1u << 14) /* the driver queues about 1,000 launches of a stream */
#define MOST_SPANS 256   /* streams that a range launched into */
#define MOST_STEPS 100000u

struct span {
    pt_u32 device;
    pt_i64 stream, start_ns, end_ns;
};

struct pt_torch_projected {
    struct pt_torch_projected *outer; /* is held as long as this one */
    pt_u32 holders;                   /* it is open; launches inside; inner ranges */
    pt_u32 name;                      /* string id of a range */
    pt_u64 step;
    bool is_step;
    struct {
        PT_VEC(struct span);
    } spans;
};

/* A call and the ranges around it; or work that came before its call. */
struct pt_torch_link {
    pt_u32 correlation; /* 0 = free */
    bool is_work;
    struct pt_torch_projected *range, *step; /* NULL = none */
    struct span span;
};

/* ---- ranges ---- */

static struct pt_torch_projected *hold(struct pt_torch_projected *range)
{
    if (range)
        range->holders++;
    return range;
}

static void extend(struct pt_torch_file *file, struct pt_torch_projected *range, const struct span *span)
{
    for (size_t i = range->spans.n; i > 0; i--) {
        struct span *known = &range->spans.items[i - 1];
        if (known->device != span->device || known->stream != span->stream)
            continue;
        known->start_ns = span->start_ns < known->start_ns ? span->start_ns : known->start_ns;
        known->end_ns = span->end_ns > known->end_ns ? span->end_ns : known->end_ns;
        return;
    }
    if (range->spans.n < MOST_SPANS)
        pt_vec_push(&range->spans, *span);
    else
        file->summary->left_out++;
}

static const char *name_of(const struct pt_torch_file *file, const struct pt_torch_projected *range,
                           char text[PT_TORCH_STEP_BYTES])
{
    return range->is_step ? pt_torch_step_name(text, range->step) : pt_torch_range_name(file, range->name);
}

/* As PyTorch has it, a nanosecond around the work, so that it encloses it. */
static void show(struct pt_torch_file *file, struct pt_torch_projected *range)
{
    char text[PT_TORCH_STEP_BYTES];
    const char *name = name_of(file, range, text);
    for (size_t i = 0; file->sink && i < range->spans.n; i++) {
        const struct span *span = &range->spans.items[i];
        pt_torch_slice(file, "gpu_user_annotation", name, (struct pt_torch_track){span->device, span->stream},
                       span->start_ns - 1, span->end_ns + 1);
    }
    free(range->spans.items);
    free(range);
}

/* HTA counts steps in the order of the file, by name: those of the host must come first. */
static bool is_for_the_end(const struct pt_torch_file *file, const struct pt_torch_projected *range)
{
    char text[PT_TORCH_STEP_BYTES];
    return file->steps.n < MOST_STEPS && !strncmp(name_of(file, range, text), "ProfilerStep#", 13);
}

static void release(struct pt_torch_file *file, struct pt_torch_projected *range)
{
    while (range && !--range->holders) {
        struct pt_torch_projected *outer = range->outer;
        for (size_t i = 0; outer && i < range->spans.n; i++)
            extend(file, outer, &range->spans.items[i]);
        if (is_for_the_end(file, range))
            pt_vec_push(&file->steps, range);
        else
            show(file, range);
        range = outer;
    }
}

struct pt_torch_projected *pt_torch_project_range(struct pt_torch_projected *outer, pt_u32 name)
{
    struct pt_torch_projected *range = pt_calloc(1, sizeof *range);
    range->outer = hold(outer);
    range->holders = 1;
    range->name = name;
    return range;
}

struct pt_torch_projected *pt_torch_project_step(pt_u64 number)
{
    struct pt_torch_projected *range = pt_torch_project_range(NULL, 0);
    range->is_step = true;
    range->step = number;
    return range;
}

void pt_torch_project_end(struct pt_torch_file *file, struct pt_torch_projected *range)
{
    if (file->step == range)
        file->step = NULL;
    release(file, range);
}

/* ---- launches and their work ---- */

static void forget(struct pt_torch_file *file, struct pt_torch_link *link)
{
    release(file, link->range);
    release(file, link->step);
    *link = (struct pt_torch_link){0};
}

static struct pt_torch_link *link_at(struct pt_torch_file *file, pt_u32 correlation)
{
    if (!file->links)
        file->links = pt_calloc(LINKS, sizeof *file->links);
    return &file->links[correlation % LINKS];
}

static void attribute(struct pt_torch_file *file, const struct pt_torch_link *link, const struct span *span)
{
    if (link->range)
        extend(file, link->range, span);
    if (link->step)
        extend(file, link->step, span);
}

void pt_torch_project_call(struct pt_torch_file *file, const struct pt_event *event)
{
    const struct pt_torch_thread *thread = &file->threads[event->thread->index];
    const pt_u32 correlation = pt_event_as(event, cuda_call)->correlation;
    struct pt_torch_link *link = link_at(file, correlation), before = *link;
    struct pt_torch_link call = {.correlation = correlation};
    if (before.correlation == correlation && !before.is_work)
        return; /* a call of the driver within one of the runtime: the outer one, which ends later, is in the same
                   ranges */
    if (thread->ranges.n)
        call.range = hold(thread->ranges.items[thread->ranges.n - 1].projected);
    /* Autograd launches from threads of its own: the step is that of the process. */
    call.step = hold(thread->has_step ? thread->step.projected : file->step);
    if (before.correlation == correlation)
        attribute(file, &call, &before.span);
    forget(file, link);
    *link = call;
}

void pt_torch_project_work(struct pt_torch_file *file, pt_u32 correlation, const struct pt_gpu_queue *queue,
                           pt_i64 start_ns, pt_i64 end_ns)
{
    const struct span span = {queue->device, queue->stream, start_ns, end_ns};
    struct pt_torch_link *link = link_at(file, correlation);
    if (link->correlation == correlation && !link->is_work) {
        attribute(file, link, &span);
        return;
    }
    forget(file, link);
    *link = (struct pt_torch_link){.correlation = correlation, .is_work = true, .span = span};
}

void pt_torch_project_finish(struct pt_torch_file *file)
{
    for (pt_u32 i = 0; file->links && i < LINKS; i++)
        forget(file, &file->links[i]);
    free(file->links);
    file->links = NULL;
    for (size_t i = 0; i < file->steps.n; i++)
        show(file, file->steps.items[i]);
    free(file->steps.items);
    file->steps.items = NULL;
    file->steps.n = 0;
}
