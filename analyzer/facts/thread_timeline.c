/* SPDX-License-Identifier: MIT
 *
 * Owns: the last spans of each thread. Threads: one while there are events, then any. Never: guesses what was before
 * the kept spans.
 */
#include "thread_timeline.h"

#include <stdlib.h>

#include "util/mem.h"
#include "time_union.h"

enum { FEWEST_SPANS = 64, MOST_INNER = 8, JOINED_LATER = 1024 };
enum { NEXT_LINE = 2 }; /* with a hundred threads the CPU does not guess it */

void pt_thread_timelines_open(struct pt_thread_timelines *all, pt_u32 n_threads)
{
    *all = (struct pt_thread_timelines){.n_threads = n_threads};
    all->threads = pt_calloc(n_threads, sizeof *all->threads);
}

void pt_thread_timelines_close(struct pt_thread_timelines *all)
{
    for (pt_u32 i = 0; i < all->n_threads; i++)
        free(all->threads[i].spans);
    free(all->threads);
    *all = (struct pt_thread_timelines){0};
}

/* ---- the ring ---- */

static struct pt_span *nth_last(const struct pt_thread_timeline *timeline, pt_u32 n)
{
    return &timeline->spans[(timeline->next - 1 - n) & (timeline->capacity - 1)];
}

static void grow(struct pt_thread_timelines *all, struct pt_thread_timeline *timeline)
{
    const pt_u32 capacity = timeline->capacity ? timeline->capacity * 2 : FEWEST_SPANS;
    struct pt_span *spans = pt_malloc(capacity * sizeof *spans);
    for (pt_u32 i = 0; i < timeline->n; i++)
        spans[timeline->n - 1 - i] = *nth_last(timeline, i);
    free(timeline->spans);
    all->n_more += capacity > PT_TIMELINE_SPANS ? capacity - timeline->capacity : 0;
    timeline->spans = spans;
    timeline->capacity = capacity;
    timeline->next = timeline->n;
}

/* Of an event loop's wait it is known later what it was for. */
static bool is_like(const struct pt_span *a, const struct pt_span *b)
{
    return b->start_ns - a->end_ns <= PT_TIMELINE_CLOSE_NS && a->part == b->part && a->kind == b->kind &&
           a->class == b->class && a->blocker_kind == b->blocker_kind && a->blocker == b->blocker &&
           a->part != PT_PART_idle;
}

static bool may_join(const struct pt_span *a, const struct pt_span *b)
{
    return a->subject == b->subject && is_like(a, b);
}

static void join(struct pt_span *span, const struct pt_span *next)
{
    span->subject = span->subject == next->subject ? span->subject : 0;
    const pt_u64 gap_ns = (pt_u64)span->gap_ns + next->gap_ns + (pt_u64)(next->start_ns - span->end_ns);
    span->gap_ns = gap_ns < UINT32_MAX ? (pt_u32)gap_ns : UINT32_MAX;
    span->end_ns = next->end_ns;
}

/* Join calls that are alike and follow each other closely, except the last ones, which may lie in a call that has
 * not ended. Each is checked once. */
static void join_close(struct pt_thread_timeline *timeline,
                       bool (*is_one)(const struct pt_span *, const struct pt_span *))
{
    const pt_u32 mask = timeline->capacity - 1, first = timeline->next - timeline->n;
    const pt_u32 end = timeline->n > JOINED_LATER ? timeline->n - JOINED_LATER : 0;
    pt_u32 kept = timeline->n_joined ? timeline->n_joined : 1;
    for (pt_u32 i = kept; i < end; i++) {
        struct pt_span *last = &timeline->spans[(first + kept - 1) & mask];
        const struct pt_span *one = &timeline->spans[(first + i) & mask];
        if (is_one(last, one))
            join(last, one);
        else
            timeline->spans[(first + kept++) & mask] = *one;
    }
    timeline->n_joined = kept;
    if (kept >= end)
        return; /* none was joined with another */
    for (pt_u32 i = end; i < timeline->n; i++)
        timeline->spans[(first + kept++) & mask] = timeline->spans[(first + i) & mask];
    timeline->n = kept;
    timeline->next = first + kept;
}

/* The first ones may be needed. */
static bool are_held(const struct pt_thread_timelines *all, const struct pt_thread_timeline *timeline, pt_u32 n_first)
{
    return timeline->is_held && nth_last(timeline, timeline->n - n_first)->end_ns > all->held_since_ns;
}

static bool may_grow(const struct pt_thread_timelines *all, const struct pt_thread_timeline *timeline)
{
    return timeline->capacity < PT_TIMELINE_MORE_SPANS && all->n_more + timeline->capacity <= PT_TIMELINE_ALL_MORE;
}

/* For several at once: a search through all spans for each would take too long. */
static void make_room(struct pt_thread_timelines *all, struct pt_thread_timeline *timeline)
{
    const pt_u32 n_wanted = timeline->capacity / 8;
    if (timeline->capacity < PT_TIMELINE_SPANS) {
        grow(all, timeline);
        return;
    }
    join_close(timeline, may_join);
    if (timeline->n + n_wanted > timeline->capacity && are_held(all, timeline, n_wanted)) {
        if (may_grow(all, timeline)) {
            grow(all, timeline);
            return;
        }
        timeline->n_joined = 0;
        join_close(timeline, is_like); /* a storm: what each was about goes */
    }
    if (timeline->n + n_wanted <= timeline->capacity)
        return;
    timeline->forgotten_ns = nth_last(timeline, timeline->n - n_wanted)->end_ns;
    timeline->n -= n_wanted;
    timeline->n_joined -= timeline->n_joined < n_wanted ? timeline->n_joined : n_wanted;
}

static void put(struct pt_thread_timelines *all, struct pt_thread_timeline *timeline, const struct pt_span *span)
{
    if (span->end_ns <= span->start_ns)
        return;
    if (timeline->n == timeline->capacity)
        make_room(all, timeline);
    timeline->spans[timeline->next++ & (timeline->capacity - 1)] = *span;
    timeline->n++;
    __builtin_prefetch(&timeline->spans[(timeline->next + NEXT_LINE) & (timeline->capacity - 1)], 1);
}

/* ---- adding ---- */

/* Of its time, what calls took. */
static pt_i64 in_calls_ns(const struct pt_span *span)
{
    return span->part == PT_PART__COUNT ? span->inner_ns : span->end_ns - span->start_ns - span->gap_ns;
}

/* Spans inside of this one came before it. Those of the driver stay, all others are replaced by it. */
static pt_i64 add(struct pt_thread_timelines *all, struct pt_thread_timeline *timeline, struct pt_span span)
{
    struct pt_span inner[MOST_INNER];
    pt_u32 n_inner = 0;
    const pt_i64 end_ns = span.end_ns;
    const pt_i64 own_ns = end_ns - span.start_ns;
    pt_i64 inner_ns = 0;
    while (timeline->n && nth_last(timeline, 0)->end_ns > span.start_ns) {
        const struct pt_span *last = nth_last(timeline, 0);
        if (last->start_ns < span.start_ns) {
            span.start_ns = last->end_ns;
            break;
        }
        inner_ns += in_calls_ns(last);
        if (last->kind == PT_SPAN_OVERHEAD && n_inner < MOST_INNER) {
            inner[n_inner] = *last;
            inner[n_inner++].part = span.part;
        }
        timeline->next--;
        timeline->n--;
    }
    timeline->n_joined = timeline->n_joined < timeline->n ? timeline->n_joined : timeline->n;
    while (n_inner--) {
        span.end_ns = inner[n_inner].start_ns;
        put(all, timeline, &span);
        put(all, timeline, &inner[n_inner]);
        span.start_ns = inner[n_inner].end_ns;
    }
    span.end_ns = end_ns;
    if (span.kind == PT_SPAN_OVERHEAD)
        span.inner_ns = (pt_u32)(inner_ns < UINT32_MAX ? inner_ns : UINT32_MAX);
    put(all, timeline, &span);
    return own_ns > inner_ns ? own_ns - inner_ns : 0;
}

/* What a silent thread did last is asked for by whoever waited for it, which is at most so long ago. */
#define SILENT_NS 1000000000

/* Programs that start commands, or workers for each epoch, have more threads than places, of which most have ended. */
static bool give_up_silent(struct pt_thread_timelines *all, pt_i64 now_ns, pt_u32 *ret_place)
{
    struct pt_thread_timeline *silent = NULL;
    if (now_ns < all->full_until_ns)
        return false;
    for (pt_u32 i = 0; i < all->n_kept; i++) {
        struct pt_thread_timeline *one = &all->threads[all->kept[i]];
        if ((one->is_held && one->last_ns > all->held_since_ns) || (silent && one->last_ns >= silent->last_ns))
            continue;
        silent = one;
        *ret_place = i;
    }
    if (!silent || silent->last_ns > now_ns - SILENT_NS) {
        all->full_until_ns = now_ns + SILENT_NS;
        return false;
    }
    all->n_more -= silent->capacity > PT_TIMELINE_SPANS ? silent->capacity - PT_TIMELINE_SPANS : 0;
    free(silent->spans);
    *silent = (struct pt_thread_timeline){
        .is_held = silent->is_held, .forgotten_ns = silent->last_ns, .last_ns = silent->last_ns};
    return true;
}

static bool find_place(struct pt_thread_timelines *all, pt_u32 thread, pt_i64 now_ns)
{
    pt_u32 place = all->n_kept;
    if (place == PT_TIMELINE_THREADS && !give_up_silent(all, now_ns, &place))
        return false;
    all->n_kept += place == all->n_kept;
    all->kept[place] = thread;
    grow(all, &all->threads[thread]);
    return true;
}

pt_i64 pt_thread_timeline_add(struct pt_thread_timelines *all, pt_u32 thread, struct pt_span span)
{
    struct pt_thread_timeline *timeline = &all->threads[thread];
    timeline->last_ns = span.end_ns > timeline->last_ns ? span.end_ns : timeline->last_ns;
    if (!timeline->capacity)
        timeline->is_left_out = !find_place(all, thread, span.end_ns);
    if (!timeline->is_left_out)
        return add(all, timeline, span);
    timeline->forgotten_ns = timeline->last_ns;
    return span.end_ns - span.start_ns;
}

void pt_thread_timeline_divide(struct pt_thread_timelines *all, pt_u32 thread, const struct pt_span *spans, pt_u32 n)
{
    struct pt_thread_timeline *timeline = &all->threads[thread];
    const struct pt_span *last = pt_thread_timeline_last(timeline, 0);
    if (!last || last->start_ns != spans[0].start_ns || last->end_ns != spans[n - 1].end_ns)
        return; /* there was no room, or another span lies in it */
    timeline->next--;
    timeline->n--;
    for (pt_u32 i = 0; i < n; i++)
        put(all, timeline, &spans[i]);
}

/* ---- looking back ---- */

static void show_rest(const struct pt_thread_timeline *timeline, pt_i64 start_ns, pt_i64 end_ns, pt_show_piece *show,
                      void *context)
{
    const pt_i64 known_ns = timeline->is_left_out                ? end_ns
                            : timeline->forgotten_ns <= start_ns ? start_ns
                            : timeline->forgotten_ns < end_ns    ? timeline->forgotten_ns
                                                                 : end_ns;
    if (end_ns > known_ns)
        show(context, &(struct pt_piece){.start_ns = known_ns, .end_ns = end_ns});
    if (known_ns > start_ns)
        show(context, &(struct pt_piece){.is_forgotten = true, .start_ns = start_ns, .end_ns = known_ns});
}

/* How much of a span's time in a window was in calls; if it is several calls joined, in proportion. */
static double called_ns(const struct pt_span *span, pt_i64 start_ns, pt_i64 end_ns)
{
    const double ns = (double)pt_common_ns(span->start_ns, span->end_ns, start_ns, end_ns);
    return ns - ns * (double)span->gap_ns / (double)(span->end_ns - span->start_ns);
}

/* The span at *at from the end, with those before it that are of its kind and close; *at becomes the first one's. */
static struct pt_span joined_at(const struct pt_thread_timeline *timeline, pt_u32 *at, struct pt_piece *piece)
{
    struct pt_span span = *nth_last(timeline, *at);
    piece->called_ns = called_ns(&span, piece->start_ns, piece->end_ns);
    for (; *at + 1 < timeline->n && may_join(nth_last(timeline, *at + 1), &span); ++*at) {
        struct pt_span before = *nth_last(timeline, *at + 1);
        piece->called_ns += called_ns(&before, piece->start_ns, piece->end_ns);
        join(&before, &span);
        span = before;
    }
    piece->start_ns = span.start_ns > piece->start_ns ? span.start_ns : piece->start_ns;
    piece->end_ns = span.end_ns < piece->end_ns ? span.end_ns : piece->end_ns;
    return span;
}

void pt_thread_timeline_split(const struct pt_thread_timeline *timeline, pt_i64 start_ns, pt_i64 end_ns,
                              pt_show_piece *show, void *context)
{
    struct pt_span then = {0};
    pt_i64 to_ns = end_ns;
    for (pt_u32 i = 0; i < timeline->n && to_ns > start_ns; i++) {
        if (nth_last(timeline, i)->start_ns >= to_ns)
            continue;
        struct pt_piece piece = {.start_ns = start_ns, .end_ns = to_ns};
        const struct pt_span span = joined_at(timeline, &i, &piece);
        if (span.end_ns <= start_ns)
            break;
        const bool is_close = then.end_ns && to_ns - piece.end_ns <= PT_TIMELINE_CLOSE_NS;
        if (to_ns > piece.end_ns)
            show(context,
                 &(struct pt_piece){.then = is_close ? &then : NULL, .start_ns = piece.end_ns, .end_ns = to_ns});
        piece.span = &span;
        show(context, &piece);
        then = span;
        to_ns = piece.start_ns;
    }
    if (to_ns > start_ns)
        show_rest(timeline, start_ns, to_ns, show, context);
}

struct part_sum {
    enum pt_time_part part;
    pt_i64 ns;
};

static void add_piece(void *context, const struct pt_piece *piece)
{
    struct part_sum *sum = context;
    sum->ns += piece->span && piece->span->part == sum->part ? piece->end_ns - piece->start_ns : 0;
}

pt_i64 pt_thread_timeline_part_ns(const struct pt_thread_timeline *timeline, enum pt_time_part part, pt_i64 start_ns,
                                  pt_i64 end_ns)
{
    struct part_sum sum = {part, 0};
    pt_thread_timeline_split(timeline, start_ns, end_ns, add_piece, &sum);
    return sum.ns;
}
