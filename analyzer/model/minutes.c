/* SPDX-License-Identifier: MIT
 *
 * minutes.c - Owns: the parts of a process's totals in time. Threads: one per process. Never: makes a part larger than
 * what is left of the totals: those are exact, and a damaged row is not.
 */
#include "minutes.h"

#include <stdlib.h>
#include <string.h>

#include "decode/decode.h"
#include "source/minutes.h"
#include "session_data.h"
#include "threads.h"

typedef void take_fn(void *context, const struct pt_interval *interval);

/* One slot: what no part was made of yet, and since when. Slots, threads and segments are all in the order of slots:
 * each is gone through once, or a file with many slots would take hours. */
struct walk {
    const struct pt_process *process;
    pt_u32 next_thread;
    size_t next_segment;
    const struct pt_trace_slot *slot;
    take_fn *take;
    void *context;
    bool is_row;
    pt_i64 rows_end_ns, counters_end_ns;
    struct pt_kind_totals rest[PT_KIND__COUNT + 1];
};

static const struct pt_clock_scale *scale_of(const struct walk *walk)
{
    return &pt_process_data_of(walk->process)->scale;
}

pt_i64 pt_process_minute_ns(const struct pt_process *process)
{
    const pt_u64 ns = process->file->header->minute_ns;
    return ns < 24ull * 3600 * 1000000000 ? (pt_i64)ns : 0;
}

static pt_u64 take_at_most(pt_u64 *rest, pt_u64 wanted)
{
    const pt_u64 taken = wanted < *rest ? wanted : *rest;
    *rest -= taken;
    return taken;
}

static void take_part(struct walk *walk, pt_u32 kind, pt_i64 from_ns, pt_i64 until_ns,
                      const struct pt_kind_totals *wanted)
{
    struct pt_kind_totals *rest = &walk->rest[kind];
    const struct pt_interval part = {
        .from_ns = from_ns,
        .until_ns = until_ns > from_ns ? until_ns : from_ns,
        .slot = walk->slot->slot,
        .is_row = walk->is_row,
        .kind = kind,
        .totals = {.calls = take_at_most(&rest->calls, wanted->calls),
                   .errors = take_at_most(&rest->errors, wanted->errors),
                   .bytes = take_at_most(&rest->bytes, wanted->bytes),
                   .ns = take_at_most(&rest->ns, wanted->ns)},
    };
    if (part.totals.calls || part.totals.errors || part.totals.bytes || part.totals.ns)
        walk->take(walk->context, &part);
}

/* ---- rows ---- */

/* A minute's start on the session's clock; a damaged number is the end of all times. */
static pt_i64 start_of(const struct walk *walk, pt_u64 minute)
{
    const struct pt_file_header *header = walk->process->file->header;
    const pt_u64 length = header->minute_ns, own_start_ns = walk->process->start_monotonic_ns +
                                                            (pt_u64)pt_process_data_of(walk->process)->namespace_ns;
    if (minute > (pt_u64)PT_TIME_LIMIT_NS / length || own_start_ns > (pt_u64)PT_TIME_LIMIT_NS)
        return PT_TIME_LIMIT_NS;
    return walk->process->start_ns + (pt_i64)(minute * length) - (pt_i64)own_start_ns;
}

static void take_counters(struct walk *walk, const struct pt_minutes_entry *entry, pt_i64 from, pt_i64 until)
{
    const struct pt_kind_totals heap = {.calls = entry->allocs, .errors = entry->frees, .bytes = entry->bytes};
    take_part(walk, PT_INTERVAL_OF_HEAP, from, until, &heap);
    for (pt_u32 i = 0; i < PT_COUNTED_ROWS; i++) {
        const struct pt_kind_totals one = {.calls = entry->counted_calls[i], .bytes = entry->counted_bytes[i]};
        take_part(walk, pt_counted_kinds[i], from, until, &one);
    }
    walk->counters_end_ns = until > walk->counters_end_ns ? until : walk->counters_end_ns;
}

static void take_kinds(struct walk *walk, const struct pt_minutes_entry *entry, pt_i64 from, pt_i64 until)
{
    const struct pt_schema *schema = pt_process_data_of(walk->process)->schema;
    for (pt_u32 i = 0; i < entry->n_kinds; i++) {
        const struct pt_totals *t = &entry->kinds[i].totals;
        const pt_u32 kind = schema->kind_of_row[entry->kinds[i].row];
        const struct pt_kind_totals one = {t->calls, t->errors, t->bytes,
                                           (pt_u64)pt_scale_duration(scale_of(walk), t->ticks)};
        if (kind != PT_NO_KIND)
            take_part(walk, kind, from, until, &one);
    }
    walk->rows_end_ns = until > walk->rows_end_ns ? until : walk->rows_end_ns;
}

static void take_row(void *context, const struct pt_minutes_entry *entry)
{
    struct walk *walk = context;
    if (entry->sequence > walk->slot->totals_seq)
        return;
    const pt_u64 end = entry->n > ~0ull - entry->first ? ~0ull : entry->first + entry->n;
    const pt_i64 from = start_of(walk, entry->first), until = start_of(walk, end);
    const pt_i64 first = from > walk->process->start_ns ? from : walk->process->start_ns,
                 last = until < walk->process->end_ns ? until : walk->process->end_ns;
    if (entry->has_counters)
        take_counters(walk, entry, first, last);
    else
        take_kinds(walk, entry, first, last);
}

/* ---- what rows do not cover ---- */

static void take_batch(struct walk *walk, const struct pt_batch *batch, pt_i64 since_ns)
{
    for (pt_u32 i = 0; i < batch->n; i++) {
        const struct pt_item *item = &batch->items[i];
        if (item->end_ns < since_ns)
            continue;
        const struct pt_kind_totals totals = pt_kind_totals_of_item(item);
        take_part(walk, pt_kind_of_item(item), item->end_ns, item->end_ns, &totals);
    }
}

/* Of the blocks that are in no totals, and of the last one that is: of it, what no row tells of. */
static void take_events(struct walk *walk, size_t uncovered)
{
    const struct pt_process_data *data = pt_process_data_of(walk->process);
    const struct pt_slot_blocks *blocks = &walk->slot->blocks[PT_BUFFER_RECORDS];
    const struct pt_decode_source source = {
        .file = walk->process->file, .schema = data->schema, .scale = &data->scale, .blocks = blocks};
    const size_t first = uncovered ? uncovered - 1 : 0;
    if (first >= blocks->n)
        return;
    struct pt_decoder *decoder = pt_decoder_new();
    struct pt_batch *batch = pt_malloc(sizeof *batch);
    for (size_t i = first; i < blocks->n; i++)
        if (pt_decode(decoder, &source, i, batch) == 0)
            take_batch(walk, batch, i < uncovered ? walk->rows_end_ns : INT64_MIN);
    pt_decoder_free(decoder);
    free(batch);
}

/* It came after the last row, and before the last block that the totals cover, where that is there. */
static void take_rest(struct walk *walk, size_t uncovered, pt_i64 start_ns, pt_i64 end_ns)
{
    const struct pt_slot_blocks *blocks = &walk->slot->blocks[PT_BUFFER_RECORDS];
    const pt_i64 from = walk->rows_end_ns > start_ns ? walk->rows_end_ns : start_ns;
    const pt_i64 last = uncovered && uncovered <= blocks->n
                            ? pt_scale_time(scale_of(walk), blocks->items[uncovered - 1].first_ticks)
                            : 0;
    for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
        const struct pt_kind_totals rest = walk->rest[kind];
        take_part(walk, kind, from, last > from ? last : from < end_ns && !last ? end_ns : from, &rest);
    }
    const struct pt_kind_totals heap = walk->rest[PT_INTERVAL_OF_HEAP];
    take_part(walk, PT_INTERVAL_OF_HEAP, walk->counters_end_ns > start_ns ? walk->counters_end_ns : start_ns, end_ns,
              &heap);
}

static void sum_up_lives(struct walk *walk, pt_i64 *ret_start_ns, pt_i64 *ret_end_ns)
{
    const struct pt_process *p = walk->process;
    *ret_start_ns = p->end_ns;
    *ret_end_ns = p->start_ns;
    memset(walk->rest, 0, sizeof walk->rest);
    for (; walk->next_thread < p->n_threads && p->threads[walk->next_thread].slot <= walk->slot->slot;
         walk->next_thread++) {
        const struct pt_thread *thread = &p->threads[walk->next_thread];
        for (pt_u32 kind = 0; kind < PT_KIND__COUNT; kind++) {
            const struct pt_kind_totals *one = pt_totals_of(thread->totals, kind);
            struct pt_kind_totals *rest = &walk->rest[kind];
            *rest = (struct pt_kind_totals){pt_sum(rest->calls, one->calls), pt_sum(rest->errors, one->errors),
                                            pt_sum(rest->bytes, one->bytes), pt_sum(rest->ns, one->ns)};
        }
        struct pt_kind_totals *heap = &walk->rest[PT_INTERVAL_OF_HEAP];
        heap->calls = pt_sum(heap->calls, thread->heap_allocs);
        heap->errors = pt_sum(heap->errors, thread->heap_frees);
        heap->bytes = pt_sum(heap->bytes, thread->heap_bytes);
        *ret_start_ns = thread->start_ns < *ret_start_ns ? thread->start_ns : *ret_start_ns;
        *ret_end_ns = thread->end_ns > *ret_end_ns ? thread->end_ns : *ret_end_ns;
    }
}

static void take_rows(struct walk *walk)
{
    const struct pt_trace_file *file = walk->process->file;
    for (; walk->next_segment < file->minutes.n; walk->next_segment++) {
        const struct pt_minutes_segment *segment = &file->minutes.items[walk->next_segment];
        if (segment->slot > walk->slot->slot)
            return;
        if (segment->slot == walk->slot->slot && file->header->minute_ns)
            pt_minutes_for_each(file, segment, take_row, walk);
    }
}

static void walk_slot(struct walk *walk)
{
    pt_i64 start_ns, end_ns;
    sum_up_lives(walk, &start_ns, &end_ns);
    walk->rows_end_ns = walk->counters_end_ns = 0;
    walk->is_row = true;
    take_rows(walk);
    walk->is_row = false;
    const size_t uncovered = pt_slot_blocks_behind(&walk->slot->blocks[PT_BUFFER_RECORDS], walk->slot->totals_seq);
    take_events(walk, uncovered);
    take_rest(walk, uncovered, start_ns, end_ns);
}

void pt_process_intervals(const struct pt_process *process, take_fn *take, void *context)
{
    struct walk *walk = pt_calloc(1, sizeof *walk);
    *walk = (struct walk){.process = process, .take = take, .context = context};
    for (size_t i = 0; i < process->file->slots.n; i++) {
        walk->slot = &process->file->slots.items[i];
        walk_slot(walk);
    }
    free(walk);
}

/* ---- gaps ---- */

void pt_process_gaps(const struct pt_process *process, void (*take)(void *context, pt_i64 from_ns, pt_i64 until_ns),
                     void *context)
{
    const struct pt_clock_scale *scale = &pt_process_data_of(process)->scale;
    for (size_t i = 0; i < process->file->slots.n * PT_BUFFER__COUNT; i++) {
        const struct pt_slot_blocks *blocks =
            &process->file->slots.items[i / PT_BUFFER__COUNT].blocks[i % PT_BUFFER__COUNT];
        pt_i64 since = process->start_ns;
        pt_u64 known = 0, missing = 0;
        for (size_t r = 0; r < blocks->runs.n; r++) {
            const struct pt_block_run *run = &blocks->runs.items[r];
            if (run->first_event > known) {
                take(context, since, pt_scale_time(scale, run->first_ticks));
                missing = pt_sum(missing, run->first_event - known);
            }
            known = run->end_event;
            since = pt_scale_time(scale, run->last_ticks);
        }
        if (blocks->missing > missing)
            take(context, since, process->end_ns);
    }
}
