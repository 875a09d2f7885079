/* SPDX-License-Identifier: MIT
 *
 * nesting.c - keeps slices nested in integer nanoseconds.
 *
 * Owns: per track a bounded stack of top-level spans and the open ranges. One thread. Never: looks at events. */
#include "nesting.h"

#include <stdlib.h>
#include <string.h>

#include "util/vec.h"

/* How far two measurements of one instant may differ: a clock tick or two, and the 27 bits of a duration's mantissa. */
static pt_i64 tolerance_ns(pt_i64 duration_ns)
{
    return 16 + (duration_ns >> 25);
}

/* Forget half of the spans in the innermost open range; if those are few, half of all. */
static void forget_half(struct pt_nesting *nesting)
{
    size_t first = nesting->n_ranges ? nesting->ranges[nesting->n_ranges - 1].spans_before : 0;
    if (first > nesting->n_spans || nesting->n_spans - first < PT_NESTING_SPANS / 2)
        first = 0;
    const size_t half = (nesting->n_spans - first) / 2;
    const pt_i64 until_ns = nesting->spans[first + half - 1].end_ns;
    nesting->n_spans -= half;
    memmove(nesting->spans + first, nesting->spans + first + half, (nesting->n_spans - first) * sizeof *nesting->spans);
    nesting->forgotten_until_ns = until_ns;
    for (size_t i = 0; !first && i < nesting->n_ranges; i++) {
        struct pt_nesting_range *range = &nesting->ranges[i];
        range->forgotten_before_ns = until_ns < range->start_ns ? until_ns : range->start_ns;
        range->spans_before = range->spans_before > half ? range->spans_before - half : 0;
    }
}

static void span_push(struct pt_nesting *nesting, struct pt_nesting_span span)
{
    if (nesting->n_spans == PT_NESTING_SPANS)
        forget_half(nesting);
    nesting->spans = pt_vec_grow(nesting->spans, nesting->n_spans, &nesting->spans_capacity, sizeof *nesting->spans);
    nesting->spans[nesting->n_spans++] = span;
}

/* The slice lies inside of a span that is shown already: it came late because of rounding. Of its siblings there, only
 * the end is known.
 */
static bool fit_inside(const struct pt_nesting_span *top, pt_i64 *start_ns, pt_i64 *end_ns)
{
    if (*start_ns < top->children_end_ns) {
        if (top->children_end_ns - *start_ns > tolerance_ns(*end_ns - *start_ns))
            return false;
        *start_ns = top->children_end_ns;
        if (*end_ns < *start_ns)
            *end_ns = *start_ns;
    }
    return true;
}

/* The two overlap by halves. Move the new one by the smallest of the three repairs, if that is within rounding. */
static bool nudge(const struct pt_nesting_span *top, pt_i64 *start_ns, pt_i64 *end_ns)
{
    const pt_i64 as_sibling = top->end_ns - *start_ns;
    const pt_i64 as_parent = *start_ns > top->start_ns ? *start_ns - top->start_ns : 0;
    const pt_i64 as_child = *end_ns > top->end_ns ? *end_ns - top->end_ns : 0;
    const pt_i64 longest =
        *end_ns - *start_ns > top->end_ns - top->start_ns ? *end_ns - *start_ns : top->end_ns - top->start_ns;
    const pt_i64 limit = tolerance_ns(longest);
    if (*start_ns < top->start_ns) {
        if (top->end_ns - *end_ns > limit)
            return false;
        *end_ns = top->end_ns;
    } else if (as_sibling <= limit && as_sibling <= as_parent && as_sibling <= as_child) {
        *start_ns = top->end_ns;
    } else if (as_parent <= limit && as_parent <= as_child) {
        *start_ns = top->start_ns;
    } else if (as_child <= limit) {
        *end_ns = top->end_ns;
    } else {
        return false;
    }
    if (*end_ns < *start_ns)
        *end_ns = *start_ns;
    return true;
}

static bool cuts_range(const struct pt_nesting *nesting, pt_i64 start_ns, pt_i64 end_ns)
{
    for (size_t i = nesting->n_ranges; i > 0 && start_ns < nesting->ranges[i - 1].start_ns; i--)
        if (end_ns > nesting->ranges[i - 1].start_ns)
            return true;
    return false;
}

/* The new slice encloses the span on top. Of two equal ones either may be the outer one: where late parents are
 * refused, the first one is. */
static bool encloses(const struct pt_nesting *nesting, const struct pt_nesting_span *top, pt_i64 start_ns,
                     pt_i64 end_ns)
{
    const bool are_alike = top->start_ns == start_ns && top->end_ns == end_ns;
    return top->start_ns >= start_ns && top->end_ns <= end_ns && !(nesting->refuses_late_parents && are_alike);
}

static bool is_late_parent(const struct pt_nesting *nesting, const struct pt_nesting_span *top, pt_i64 start_ns)
{
    return nesting->refuses_late_parents && top->start_ns == start_ns && start_ns > nesting->from_ns;
}

static bool lies_inside(const struct pt_nesting_span *top, pt_i64 start_ns, pt_i64 end_ns)
{
    return start_ns >= top->start_ns && end_ns <= top->end_ns;
}

/* Replace the spans from `first` on by one that encloses them. */
static void replace_spans(struct pt_nesting *nesting, size_t first, struct pt_nesting_span span)
{
    span.children_end_ns = span.children_end_ns > span.start_ns ? span.children_end_ns : span.start_ns;
    nesting->n_spans = first;
    span_push(nesting, span);
}

/* Place the slice against the spans on the stack, newest first. The stack changes only if the slice is taken. */
static bool place_on_stack(struct pt_nesting *nesting, pt_i64 *start_ns, pt_i64 *end_ns)
{
    const pt_i64 earliest_ns = *start_ns - tolerance_ns(*end_ns - *start_ns);
    pt_i64 children_end_ns = *start_ns;
    size_t n = nesting->n_spans;
    while (n && nesting->spans[n - 1].end_ns > *start_ns) {
        struct pt_nesting_span *top = &nesting->spans[n - 1];
        if (encloses(nesting, top, *start_ns, *end_ns)) {
            if (is_late_parent(nesting, top, *start_ns))
                return false;
            children_end_ns = top->end_ns > children_end_ns ? top->end_ns : children_end_ns;
            n--;
        } else if (lies_inside(top, *start_ns, *end_ns)) {
            if (!fit_inside(top, start_ns, end_ns) || cuts_range(nesting, *start_ns, *end_ns))
                return false;
            top->children_end_ns = *end_ns;
            return true;
        } else if (!nudge(top, start_ns, end_ns) || *start_ns < earliest_ns) {
            return false;
        }
        if (children_end_ns > *end_ns)
            return false;
    }
    if (cuts_range(nesting, *start_ns, *end_ns))
        return false;
    replace_spans(nesting, n, (struct pt_nesting_span){*start_ns, *end_ns, children_end_ns});
    return true;
}

/* A call that began before a range that is still open, and ended in it, overlaps it by halves. */
static bool fit_into_ranges(const struct pt_nesting *nesting, pt_i64 *start_ns, pt_i64 *end_ns)
{
    const pt_i64 limit = tolerance_ns(*end_ns - *start_ns);
    for (size_t i = nesting->n_ranges; i > 0 && *start_ns < nesting->ranges[i - 1].start_ns; i--) {
        const pt_i64 open_ns = nesting->ranges[i - 1].start_ns;
        if (*end_ns <= open_ns)
            continue;
        if (open_ns - *start_ns <= limit)
            *start_ns = open_ns;
        else if (*end_ns - open_ns <= limit)
            *end_ns = open_ns;
        else
            return false;
    }
    return true;
}

bool pt_nesting_place(struct pt_nesting *nesting, pt_i64 *start_ns, pt_i64 *end_ns)
{
    pt_i64 start = *start_ns, end = *end_ns;
    const pt_i64 limit = tolerance_ns(end - start);
    start = start < nesting->from_ns ? nesting->from_ns : start;
    end = end > nesting->until_ns ? nesting->until_ns : end;
    end = end < start ? start : end;
    if (!fit_into_ranges(nesting, &start, &end))
        return false;
    if (start < nesting->forgotten_until_ns) {
        if (nesting->forgotten_until_ns - start > limit)
            return false;
        start = nesting->forgotten_until_ns;
        end = end < start ? start : end;
    }
    if (!place_on_stack(nesting, &start, &end))
        return false;
    *start_ns = start;
    *end_ns = end;
    return true;
}

void pt_nesting_range_begin(struct pt_nesting *nesting, pt_i64 start_ns, pt_u64 name)
{
    /* Between what encloses it and what is already shown before it. */
    const pt_i64 floor_ns = nesting->n_ranges ? nesting->ranges[nesting->n_ranges - 1].start_ns : nesting->from_ns;
    start_ns = start_ns < floor_ns ? floor_ns : start_ns;
    start_ns = start_ns > nesting->until_ns ? nesting->until_ns : start_ns;
    if (nesting->n_spans && nesting->spans[nesting->n_spans - 1].end_ns > start_ns)
        start_ns = nesting->spans[nesting->n_spans - 1].end_ns;
    nesting->ranges =
        pt_vec_grow(nesting->ranges, nesting->n_ranges, &nesting->ranges_capacity, sizeof *nesting->ranges);
    nesting->ranges[nesting->n_ranges++] =
        (struct pt_nesting_range){start_ns, name, nesting->n_spans, nesting->forgotten_until_ns};
}

bool pt_nesting_range_end(struct pt_nesting *nesting, pt_i64 *end_ns, struct pt_nesting_range *ret_range)
{
    if (!nesting->n_ranges)
        return false;
    const struct pt_nesting_range range = nesting->ranges[--nesting->n_ranges];
    pt_i64 end = *end_ns > nesting->until_ns ? nesting->until_ns : *end_ns;
    end = end < range.start_ns ? range.start_ns : end;
    pt_i64 children_end = range.start_ns;
    while (nesting->n_spans && nesting->spans[nesting->n_spans - 1].start_ns >= range.start_ns) {
        const struct pt_nesting_span *top = &nesting->spans[--nesting->n_spans];
        children_end = top->end_ns > children_end ? top->end_ns : children_end;
    }
    end = end < children_end ? children_end : end;
    /* Spans that were forgotten since the range began lie inside of it. */
    if (nesting->forgotten_until_ns > range.start_ns) {
        end = end < nesting->forgotten_until_ns ? nesting->forgotten_until_ns : end;
        children_end = children_end < nesting->forgotten_until_ns ? nesting->forgotten_until_ns : children_end;
    }
    nesting->forgotten_until_ns = range.forgotten_before_ns;
    span_push(nesting, (struct pt_nesting_span){range.start_ns, end, children_end});
    *end_ns = end;
    *ret_range = range;
    return true;
}

void pt_nesting_free(struct pt_nesting *nesting)
{
    free(nesting->spans);
    free(nesting->ranges);
    *nesting = (struct pt_nesting){0};
}
