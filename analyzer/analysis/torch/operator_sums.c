/* SPDX-License-Identifier: MIT
 *
 * operator_sums.c - Owns: the sums. State: one for each name (and shapes, or epoch), at most MOST_SUMS. Threads: one.
 */
#include "operator_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SUMS = 20000 };

bool pt_is_operator(const struct pt_torch_span *span)
{
    return !pt_torch_is_step(span->name);
}

static pt_u64 mix(pt_u64 key, pt_u64 value)
{
    return (key ^ value) * 0x9e3779b97f4a7c15ull;
}

static struct pt_operator_sum *sum_of(struct pt_operator_sums *sums, const struct pt_torch_span *span, pt_u32 stage,
                                      pt_u32 epoch, bool by_shapes)
{
    const bool is_gpu = span->kind == PT_TORCH_KERNEL, is_full = sums->n >= MOST_SUMS;
    const char *name = pt_intern_text(&sums->texts, is_full ? "(others)" : span->name);
    const char *shapes = by_shapes ? pt_intern_text(&sums->texts, is_full ? "" : span->shapes) : NULL;
    const pt_u64 key = mix(mix(mix(mix(1, (uintptr_t)name), (uintptr_t)shapes), (pt_u64)stage << 32 | epoch), is_gpu);
    pt_u64 *slot = pt_map_at(&sums->by_key, key);
    if (!*slot) {
        pt_vec_push(sums, ((struct pt_operator_sum){.name = name,
                                                    .shapes = shapes,
                                                    .stage = stage,
                                                    .epoch = epoch,
                                                    .is_gpu = is_gpu,
                                                    .flops = NAN,
                                                    .peak_bytes = -1}));
        *slot = sums->n;
    }
    return &sums->items[*slot - 1];
}

void pt_operator_sums_add(struct pt_operator_sums *sums, const struct pt_torch_window *window, pt_u32 stage,
                          enum pt_operator_grouping grouping)
{
    const struct pt_torch_span *span;
    const pt_u32 epoch = grouping == PT_BY_EPOCH ? window->epoch : 0;
    pt_vec_each(span, &window->spans)
    {
        if (!pt_is_operator(span) || (grouping == PT_BY_SHAPES && !*span->shapes))
            continue;
        struct pt_operator_sum *sum = sum_of(sums, span, stage, epoch, grouping == PT_BY_SHAPES);
        sum->calls++;
        sum->self_ns += span->self_ns;
        sum->total_ns += span->took_ns;
        sum->self_bytes += span->self_bytes;
        if (span->peak_bytes > sum->peak_bytes)
            sum->peak_bytes = span->peak_bytes;
        if (!isnan(span->flops))
            sum->flops = isnan(sum->flops) ? span->flops : sum->flops + span->flops;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct pt_operator_sum *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    if (x->self_ns != y->self_ns)
        return x->self_ns > y->self_ns ? -1 : 1;
    const int by_name = strcmp(x->name, y->name);
    return by_name ? by_name : strcmp(x->shapes ? x->shapes : "", y->shapes ? y->shapes : "");
}

void pt_operator_sums_sort(struct pt_operator_sums *sums)
{
    if (sums->n)
        qsort(sums->items, sums->n, sizeof *sums->items, by_time);
    pt_map_fini(&sums->by_key); /* places have changed */
    sums->by_key = (struct pt_map){0};
}

void pt_operator_sums_fini(struct pt_operator_sums *sums)
{
    free(sums->items);
    pt_map_fini(&sums->by_key);
    pt_intern_fini(&sums->texts);
}
