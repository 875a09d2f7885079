/* SPDX-License-Identifier: MIT
 *
 * merge.c - Owns: the order of events. Threads: one reads; blocks are decoded ahead by decode_pool.c. Never: goes back
 * in time: an event that would is moved to the end of the one before it in its buffer.
 *
 * A loser tree of the sources by (time, source): the nodes to compare for the next event lie on a path that is known in
 * advance, so that the processor need not wait for one comparison before it begins the next. A source whose next block
 * is not decoded yet is in the tree with the lower bound from the block's header, and is loaded when it wins: processes
 * that run one after another are never in memory together.
 */
#include "merge.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "util/auto.h"
#include "util/mem.h"
#include "decode_pool.h"

enum { MAX_WHOLE = 512, MIN_WINDOW = 32, ALL_WINDOWS = 4 << 20, NEXT_LINE = 2 };

/* An entry of the tree: time in the high bits and source in the low bits of one number, so that two are compared and
 * swapped without a branch, which could not be predicted. */
__extension__ typedef unsigned __int128 pt_entry;
static const pt_entry NO_MORE = ~(pt_entry)0;

static inline pt_entry entry_of(pt_i64 key_ns, pt_u64 source)
{
    return (pt_entry)((pt_u64)key_ns ^ 1ull << 63) << 64 | source;
}

static inline pt_u64 source_of(pt_entry entry)
{
    return (pt_u64)entry;
}

struct reader { /* of one source */
    const struct pt_merge_source *in;
    struct pt_batch *batch;           /* NULL = the next block is not loaded */
    const struct pt_item *item, *end; /* the rest of it */
    bool is_window;                   /* the batch is only events [skip, skip + n) of `total` in its block */
    pt_u32 skip, total;
    size_t block; /* next block to load */
    pt_i64 floor_ns;
    struct pt_thread *thread;
    struct pt_job ahead;
};

struct merge {
    struct pt_feed feed; /* first */
    struct pt_merge_source *sources;
    struct reader *readers;
    pt_entry *losers; /* [n_leaves]: by node, its children are 2 * node and 2 * node + 1; sources are the leaves */
    size_t n_leaves, n_left;
    pt_entry first; /* the winner */
    pt_entry limit; /* the runner-up, where known: the winner can deliver without a replay while it is below */
    size_t n_whole; /* readers that hold a whole batch */
    struct pt_decode_pool *pool;
    struct pt_merge_owner owner;
    struct pt_filter filter;
    bool filters;
};

/* The best of the losers on the winner's path: no other can be the runner-up. */
static pt_entry second(const struct merge *m)
{
    pt_entry best = NO_MORE;
    for (size_t node = (source_of(m->first) + m->n_leaves) / 2; node; node /= 2)
        best = m->losers[node] < best ? m->losers[node] : best;
    return best;
}

/* Replay the winner's path after its key has grown. A source that wins twice in a row may win many times, so the
 * runner-up is kept as a limit, up to which it delivers without a replay; for all other sources finding the
 * runner-up would cost as much as the replay. */
static void replay(struct merge *m, pt_entry winner)
{
    const pt_u64 source = source_of(m->first);
    for (size_t node = (source + m->n_leaves) / 2; node; node /= 2) {
        const pt_entry loser = m->losers[node];
        const bool is_beaten = loser < winner;
        m->losers[node] = is_beaten ? winner : loser;
        winner = is_beaten ? loser : winner;
    }
    m->first = winner;
    m->limit = source_of(winner) == source ? second(m) : winner;
}

static void remove_first(struct merge *m)
{
    m->n_left--;
    replay(m, NO_MORE);
}

/* The next one begins before the filter does; a second for times that were interpolated. Not where that is because of
 * a call that encloses this block, too: calls are stored when they end. */
static bool is_early(const struct merge *m, const struct reader *r)
{
    enum { SLACK_NS = 1000000000 };
    const struct pt_slot_blocks *blocks = r->in->from.blocks;
    return m->filter.from_ns > SLACK_NS && !r->in->from.is_unordered && r->block + 1 < r->in->end_block &&
           blocks->items[r->block + 1].first_ticks >= blocks->items[r->block].first_ticks &&
           pt_scale_time(r->in->from.scale, blocks->items[r->block + 1].first_ticks) < m->filter.from_ns - SLACK_NS;
}

/* Skip blocks that lie wholly before the filter's start or after its end; false when none is left. */
static bool has_block(const struct merge *m, struct reader *r)
{
    const struct pt_slot_blocks *blocks = r->in->from.blocks;
    while (r->block < r->in->end_block) {
        const struct pt_block_ref *ref = &blocks->items[r->block];
        const bool is_late =
            m->filter.until_ns && pt_scale_time(r->in->from.scale, ref->first_ticks) >= m->filter.until_ns;
        if (pt_block_ref_events(ref) && !is_late && !is_early(m, r))
            return true;
        r->block++;
    }
    return false;
}

static pt_i64 lower_bound_ns(const struct reader *r)
{
    const pt_i64 first = pt_scale_time(r->in->from.scale, r->in->from.blocks->items[r->block].first_ticks);
    return first > r->floor_ns ? first : r->floor_ns;
}

/* Ten thousand threads that ran at once would hold ten thousand batches of 160 KiB. Beyond some hundred, a reader
 * keeps only a window of events, and decodes the block again for the next window. */
static void keep_window(struct merge *m, struct reader *r)
{
    struct pt_batch *whole = r->batch;
    const pt_u32 left = whole->n > r->skip ? whole->n - r->skip : 0;
    const size_t share = ALL_WINDOWS / (m->n_left + 1), room = share > MIN_WINDOW ? share : MIN_WINDOW;
    const pt_u32 n = left < room ? left : (pt_u32)room;
    r->total = whole->n;
    r->is_window = true;
    r->batch = pt_malloc(offsetof(struct pt_batch, items) + n * sizeof whole->items[0]);
    r->batch->n = n;
    if (n)
        memcpy(r->batch->items, whole->items + r->skip, n * sizeof whole->items[0]);
    pt_decode_pool_give_back(m->pool, whole);
}

/* False when the block has more events after the window: it must be loaded again then. */
static bool drop_batch(struct merge *m, struct reader *r)
{
    const bool was_window = r->is_window;
    if (was_window) {
        r->skip += r->batch->n;
        free(r->batch);
    } else if (r->batch) {
        pt_decode_pool_give_back(m->pool, r->batch);
        m->n_whole--;
    }
    r->batch = NULL;
    r->is_window = false;
    if (was_window && r->skip < r->total)
        return false;
    r->skip = 0;
    return true;
}

/* Load the next block of a reader; its batch may be empty when the block is damaged. */
static void load(struct merge *m, struct reader *r)
{
    const struct pt_block_ref *ref = &r->in->from.blocks->items[r->block];
    const pt_u32 life = pt_slot_blocks_run(r->in->from.blocks, r->block)->life;
    const int result = pt_decode_pool_take(m->pool, &r->ahead, &r->in->from, r->block, &r->batch);
    r->block++;
    r->thread = m->owner.thread(r->in->process, r->in->slot, life);
    if (result < 0)
        m->owner.damaged(r->in->process, ref);
    if (m->n_whole >= MAX_WHOLE)
        keep_window(m, r);
    else
        m->n_whole++;
    /* A block that is decoded a second time while its process still writes may have become shorter. */
    const pt_u32 seen = r->is_window ? 0 : r->skip;
    r->end = r->batch->items + r->batch->n;
    r->item = seen < r->batch->n ? r->batch->items + seen : r->end;
    const bool is_done = !r->is_window || r->skip + r->batch->n >= r->total;
    if (is_done && has_block(m, r))
        pt_decode_pool_ask(m->pool, &r->ahead, &r->in->from, r->block);
}

static inline pt_i64 key_of(const struct reader *r)
{
    const pt_i64 end = r->item->end_ns;
    return end > r->floor_ns ? end : r->floor_ns;
}

/* The winner's batch is used up, or not loaded: enter the bound of the next block, or load the block, or remove the
 * source. */
static void advance_block(struct merge *m, struct reader *r)
{
    if (!r->batch) {
        load(m, r);
        if (r->item < r->end) {
            replay(m, entry_of(key_of(r), source_of(m->first)));
            return;
        }
    }
    r->item = r->end = NULL;
    if (!drop_batch(m, r)) {
        r->block--;
        return;
    }
    if (has_block(m, r))
        replay(m, entry_of(lower_bound_ns(r), source_of(m->first)));
    else
        remove_first(m);
}

/* A call that CUPTI reported belongs to the thread that made it. */
static void set_caller(const struct merge *m, struct pt_event *event)
{
    const pt_u32 tid = event->desc->id == PT_EV_cuda_call ? pt_event_as(event, cuda_call)->tid : 0;
    struct pt_thread *caller = tid ? m->owner.caller(event->process, tid, pt_event_end_ns(event)) : NULL;
    event->thread = caller ? caller : event->thread;
}

static inline void fill(const struct merge *m, const struct reader *r, const struct pt_item *item, pt_i64 end_ns,
                        struct pt_event *event)
{
    event->start_ns = end_ns - item->duration_ns;
    event->duration_ns = item->duration_ns;
    event->desc = pt_event_desc_by_id(item->tag_kind & 0xff);
    event->process = r->in->process;
    event->thread = r->thread;
    event->aux = item->aux;
    event->tag = (pt_i32)item->tag_kind >> 8;
    event->words[0] = item->words[0];
    event->words[1] = item->words[1];
    if (r->in->from.is_unordered && !m->filter.as_stored)
        set_caller(m, event);
}

/* When all categories are wanted, events need not be tested one by one. */
static bool leaves_out_some(const struct pt_filter *f)
{
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++)
        if (f->categories && !(pt_event_descs[kind].category & f->categories))
            return true;
    return false;
}

/* Heap units are not left out before: their times follow from all of them. */
static bool passes(const struct pt_filter *f, const struct pt_decode_source *from, const struct pt_event *event)
{
    if (pt_is_left_out(from, event->desc->category, event->duration_ns) || pt_event_end_ns(event) < f->from_ns)
        return false;
    return !f->until_ns || event->start_ns < f->until_ns;
}

static void cut(pt_i64 from_ns, struct pt_event *event)
{
    if (event->start_ns >= from_ns)
        return;
    event->duration_ns = event->desc->role == PT_ROLE_SPAN ? pt_event_end_ns(event) - from_ns : 0;
    event->start_ns = from_ns;
}

static int next(struct pt_feed *self, struct pt_event *ret_event, struct pt_error *err)
{
    struct merge *m = (struct merge *)self;
    (void)err;
    while (m->first != NO_MORE) {
        struct reader *r = &m->readers[source_of(m->first)];
        if (r->item == r->end) {
            advance_block(m, r);
            continue;
        }
        const pt_i64 key = key_of(r);
        const pt_entry entry = entry_of(key, source_of(m->first));
        if (entry != m->first && entry >= m->limit) {
            replay(m, entry);
            continue;
        }
        fill(m, r, r->item++, key, ret_event);
        __builtin_prefetch(r->item +
                           NEXT_LINE); /* with a hundred sources the processor's own prefetcher does not find it */
        r->floor_ns = key;
        if (m->filters && !passes(&m->filter, &r->in->from, ret_event))
            continue;
        if (m->filter.cuts)
            cut(m->filter.from_ns, ret_event);
        return 1;
    }
    return 0;
}

static void close_merge(struct pt_feed *self)
{
    struct merge *m = (struct merge *)self;
    for (size_t i = 0; m->readers[i].in; i++) {
        struct reader *r = &m->readers[i];
        if (r->ahead.is_asked) {
            struct pt_batch *batch;
            pt_decode_pool_take(m->pool, &r->ahead, &r->in->from, r->ahead.block, &batch);
            pt_decode_pool_give_back(m->pool, batch);
        }
        if (r->batch)
            drop_batch(m, r);
    }
    pt_decode_pool_free(m->pool);
    free(m->readers);
    free(m->losers);
    free(m->sources);
    free(m);
}

/* Fill `winners`, whose upper half are the leaves, with the winner of every node; returns the losers. */
static pt_entry *play_all(pt_entry *winners, size_t n_leaves)
{
    pt_entry *losers = pt_calloc(n_leaves, sizeof *losers);
    for (size_t node = n_leaves; --node;) {
        const pt_entry left = winners[2 * node], right = winners[2 * node + 1];
        const bool is_right = right < left;
        winners[node] = is_right ? right : left;
        losers[node] = is_right ? left : right;
    }
    return losers;
}

struct pt_feed *pt_merge_new(struct pt_merge_source *sources, size_t n, const struct pt_merge_owner *owner,
                             const struct pt_filter *filter)
{
    struct merge *m = pt_calloc(1, sizeof *m);
    m->feed = (struct pt_feed){.next = next, .close = close_merge};
    m->sources = sources;
    m->owner = *owner;
    if (filter)
        m->filter = *filter;
    m->filters = leaves_out_some(&m->filter) || m->filter.from_ns || m->filter.until_ns || m->filter.min_duration_ns;
    m->readers = pt_calloc(n + 1, sizeof *m->readers);
    for (m->n_leaves = 1; m->n_leaves < n;)
        m->n_leaves *= 2;
    PT_AUTO(pt_freep) pt_entry *winners = pt_calloc(2 * m->n_leaves, sizeof *winners);
    size_t blocks = 0;
    for (size_t i = 0; i < n; i++) {
        struct reader *r = &m->readers[i];
        r->in = &sources[i];
        r->floor_ns = -PT_TIME_LIMIT_NS * 2;
        r->block = sources[i].first_block;
        blocks += sources[i].end_block - sources[i].first_block;
        const bool has_any = has_block(m, r);
        m->n_left += has_any;
        winners[m->n_leaves + i] = has_any ? entry_of(lower_bound_ns(r), i) : NO_MORE;
    }
    for (size_t i = n; i < m->n_leaves; i++)
        winners[m->n_leaves + i] = NO_MORE;
    m->losers = play_all(winners, m->n_leaves);
    m->first = m->limit = winners[1];
    m->pool = pt_decode_pool_new(blocks);
    return &m->feed;
}
