/* SPDX-License-Identifier: MIT
 *
 * index.c - Owns: the order of a stream's blocks, and the account of what is missing between them. Threads: one, while
 * the file is opened.
 */
#include "block.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

static int by_sequence(const void *a, const void *b)
{
    const struct pt_block_ref *x = a, *y = b;
    if (x->header.sequence != y->header.sequence)
        return x->header.sequence < y->header.sequence ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void sort_blocks(struct pt_slot_stream *stream)
{
    if (stream->n < 2)
        return;
    qsort(stream->items, stream->n, sizeof *stream->items, by_sequence);
    size_t kept = 1;
    for (size_t i = 1; i < stream->n; i++)
        if (stream->items[i].header.sequence != stream->items[kept - 1].header.sequence)
            stream->items[kept++] = stream->items[i];
    stream->n = kept;
}

/* Events that lie in a raw buffer now, and the bounds of their times. */
static void survey_raw(const pt_u8 *bytes, struct pt_block *h)
{
    pt_u64 first = ~0ull, last = 0;
    const bool is_heap = h->stream == PT_STREAM_HEAP;
    const pt_u32 step = is_heap ? sizeof(struct pt_unit16) : sizeof(struct pt_record);
    for (pt_u32 at = 0; at + step <= h->encoded_bytes; at += step) {
        pt_u64 words[2];
        memcpy(words, bytes + at, sizeof words);
        const pt_u32 kind = is_heap ? words[0] >> PT_GENERATION_BITS & 15 : words[1] >> 32 & 0xff;
        if ((words[0] & PT_GENERATION_MASK) != h->generation || !kind)
            continue;
        if (!is_heap || kind != PT_UNIT_CLOCK)
            h->events++;
        if (is_heap && kind != PT_UNIT_CLOCK)
            continue;
        const pt_u64 ticks = is_heap ? words[1] : words[0] >> PT_GENERATION_BITS;
        first = ticks < first ? ticks : first;
        last = ticks > last ? ticks : last;
    }
    h->first_ticks = first == ~0ull ? 0 : first;
    h->last_ticks = last;
}

/* Add the raw buffer as the last run of the stream, unless it holds what the last block already has (format rule 2). */
static void add_raw_buffer(struct pt_trace_file *file, const struct pt_trace_slot *slot, struct pt_slot_stream *stream,
                           pt_u8 kind, struct pt_block_loader *loader)
{
    const struct pt_thread_area *area = pt_trace_slot_area(slot);
    const struct pt_raw_buffer *raw = &area->raw[kind];
    const pt_u64 sequence = raw->sequence >> PT_GENERATION_BITS;
    if (raw->offset < sizeof *area || raw->offset >= slot->area_bytes || !raw->bytes)
        return;
    if (stream->n && sequence <= stream->items[stream->n - 1].header.sequence)
        return;
    const pt_u64 room = slot->area_bytes - raw->offset;
    pt_u64 bytes = raw->bytes < room ? raw->bytes : room;
    bytes =
        bytes < PT_BLOCK_MAX_EVENTS * sizeof(struct pt_record) ? bytes : PT_BLOCK_MAX_EVENTS * sizeof(struct pt_record);
    struct pt_block_ref ref = {
        .offset = slot->area_offset + raw->offset,
        .segment = ~0u,
        .is_raw_buffer = true,
        .header = {.coding = PT_CODING_RAW,
                   .stream = kind,
                   .generation = raw->sequence & PT_GENERATION_MASK,
                   .slot = slot->slot,
                   .tid = area->tid,
                   .life = area->life,
                   .sequence = sequence,
                   .first_event = raw->flushed_events},
    };
    ref.header.stored_bytes = (pt_u32)pt_trace_file_read(file, ref.offset, loader->stored, bytes);
    ref.header.encoded_bytes = ref.header.stored_bytes;
    survey_raw(loader->stored, &ref.header);
    if (ref.header.events)
        pt_vec_push(stream, ref);
}

static void count_missing(const struct pt_raw_buffer *raw, struct pt_slot_stream *stream)
{
    pt_u64 in_blocks = 0, in_raw = 0, end = raw->flushed_events;
    for (size_t i = 0; i < stream->n; i++) {
        const struct pt_block_ref *ref = &stream->items[i];
        if (ref->is_raw_buffer) {
            in_raw += ref->header.events;
            continue;
        }
        in_blocks += ref->header.events;
        const struct pt_block_ref *before = i ? ref - 1 : NULL;
        if (!before || before->segment != ref->segment || before->header.sequence + 1 >= ref->header.sequence)
            continue;
        const pt_u64 expected = before->header.first_event + before->header.events;
        stream->missing_inside += ref->header.first_event > expected ? ref->header.first_event - expected : 0;
        stream->missing_blocks += ref->header.sequence - before->header.sequence - 1;
    }
    stream->events = in_blocks + in_raw;
    /* A process killed between publishing a block and resetting the buffer has not counted that block yet. */
    if (stream->n && !in_raw) {
        const struct pt_block *last = &stream->items[stream->n - 1].header;
        if (last->first_event < ~0ull / 2 && last->first_event + last->events > end)
            end = last->first_event + last->events;
    }
    stream->missing = end > in_blocks ? end - in_blocks : 0;
}

static int by_slot(const void *a, const void *b)
{
    const struct pt_trace_slot *x = a, *y = b;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

void pt_index_streams(struct pt_trace_file *file)
{
    pt_map_fini(&file->slot_at); /* its indices end here */
    if (file->slots.n)
        qsort(file->slots.items, file->slots.n, sizeof *file->slots.items, by_slot);
    struct pt_block_loader *loader = pt_block_loader_new();
    for (size_t i = 0; i < file->slots.n; i++) {
        struct pt_trace_slot *slot = &file->slots.items[i];
        for (pt_u8 kind = 0; kind < PT_STREAM__COUNT; kind++) {
            struct pt_slot_stream *stream = &slot->streams[kind];
            sort_blocks(stream);
            add_raw_buffer(file, slot, stream, kind, loader);
            count_missing(&pt_trace_slot_area(slot)->raw[kind], stream);
        }
    }
    pt_block_loader_free(loader);
}
