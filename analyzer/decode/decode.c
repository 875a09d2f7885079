/* SPDX-License-Identifier: MIT
 *
 * decode.c - Owns: a decoder's working memory. Threads: one per decoder; several decode at once. Never: trusts what it
 * decodes.
 */
#include "decode.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/codec.h"
#include "proftrace/events.h"
#include "util/mem.h"

struct pt_decoder {
    struct pt_block_loader *loader;
    union {
        struct pt_unit16 units[PT_BLOCK_MAX_EVENTS];
        struct pt_record records[PT_BLOCK_MAX_EVENTS];
    };
    struct pt_codec_words words[256];
    struct pt_item sorted[PT_BLOCK_MAX_EVENTS];
};

struct pt_decoder *pt_decoder_new(void)
{
    struct pt_decoder *decoder = pt_malloc(sizeof *decoder);
    decoder->loader = pt_block_loader_new();
    return decoder;
}

void pt_decoder_free(struct pt_decoder *decoder)
{
    if (!decoder)
        return;
    pt_block_loader_free(decoder->loader);
    free(decoder);
}

/* Stable merge sort by end, for batches whose order was broken by a signal handler or by damage. */
static void sort_items(struct pt_item *items, pt_u32 n, struct pt_item *spare)
{
    for (pt_u32 width = 1; width < n; width *= 2) {
        for (pt_u32 low = 0; low < n; low += 2 * width) {
            const pt_u32 middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            pt_u32 a = low, b = middle;
            for (pt_u32 to = low; to < high; to++)
                spare[to] = b >= high || (a < middle && items[a].end_ns <= items[b].end_ns) ? items[a++] : items[b++];
        }
        memcpy(items, spare, n * sizeof *items);
    }
}

/* ---- heap units ---- */

/* Spread the units of items [from, n) evenly over [start, end): the k-th of m at start + k * (end - start) / m. */
static void spread(struct pt_batch *batch, pt_u32 from, pt_i64 start, pt_i64 end)
{
    const pt_u32 units = batch->n - from;
    if (!units)
        return;
    pt_u64 span = end > start ? (pt_u64)(end - start) : 0;
    span = span < 1ull << 46 ? span : 1ull << 46;
    const pt_u64 step = (span << 16) / units;
    for (pt_u32 k = 0; k < units; k++)
        batch->items[from + k].end_ns = start + (pt_i64)(step * k >> 16);
}

struct clock_run {
    pt_i64 at_ns, gap_ns; /* the last clock, and the gap before it */
    pt_u32 from;          /* first item behind it */
    bool seen;
};

static void take_clock(struct clock_run *run, struct pt_batch *batch, pt_i64 now_ns)
{
    if (run->seen)
        spread(batch, run->from, run->at_ns, now_ns);
    else
        spread(batch, 0, now_ns, now_ns);
    run->gap_ns = run->seen && now_ns > run->at_ns ? now_ns - run->at_ns : 0;
    run->at_ns = now_ns;
    run->from = batch->n;
    run->seen = true;
}

static void decode_units(const struct pt_decode_source *source, const struct pt_unit16 *units, pt_u32 n,
                         pt_u64 next_clock, struct pt_batch *batch)
{
    const struct pt_schema *schema = source->schema;
    const struct pt_clock_scale *scale = source->scale;
    struct clock_run run = {0};
    for (pt_u32 i = 0; i < n; i++) {
        const pt_u32 kind = units[i].head >> PT_GENERATION_BITS & 15;
        if (kind == PT_UNIT_CLOCK) {
            take_clock(&run, batch, pt_scale_time(scale, units[i].body));
            continue;
        }
        if (!schema->kinds[kind].desc)
            continue;
        struct pt_item *item = &batch->items[batch->n++];
        item->duration_ns = 0;
        item->aux = 0;
        item->tag_kind = PT_TAG_NONE << 8 | kind;
        item->words[0] = units[i].head >> 16;
        item->words[1] = units[i].body;
    }
    /* After the last clock unit: up to the first clock of the next block, else with the gaps of the group before. */
    const pt_i64 next_ns = next_clock ? pt_scale_time(scale, next_clock) : run.at_ns + run.gap_ns;
    if (run.seen)
        spread(batch, run.from, run.at_ns, next_ns);
    else
        spread(batch, 0, scale->offset_ns, scale->offset_ns);
}

static pt_u32 keep_units(const pt_u8 *raw, pt_u32 bytes, pt_u32 generation, struct pt_unit16 *units)
{
    pt_u32 n = 0;
    for (pt_u32 at = 0; at + sizeof *units <= bytes && n < PT_BLOCK_MAX_EVENTS; at += sizeof *units) {
        memcpy(&units[n], raw + at, sizeof *units);
        const pt_u32 kind = units[n].head >> PT_GENERATION_BITS & 15;
        n += (units[n].head & PT_GENERATION_MASK) == generation && kind && kind <= 7;
    }
    return n;
}

/* ---- records ---- */

/* A place has the instant at which its event ends. That end is a start and a duration, which keeps 27 bits and is
 * rounded twice: it can lie before the place by 2^-25 of the duration (9 us of five minutes), and the event would be
 * delivered without its place. */
static void keep_before(struct pt_item *place, const struct pt_item *item)
{
    const pt_i64 late_ns = place->end_ns - item->end_ns;
    if ((place->tag_kind & 0xff) == PT_EV_python_place && late_ns > 0 && late_ns < 1000 + (item->duration_ns >> 25))
        place->end_ns = item->end_ns;
}

static void decode_records(const struct pt_decode_source *source, struct pt_record *records, pt_u32 n,
                           struct pt_batch *batch)
{
    const struct pt_schema *schema = source->schema;
    const struct pt_clock_scale *scale = source->scale;
    for (pt_u32 i = 0; i < n; i++) {
        struct pt_record *r = &records[i];
        const struct pt_kind_map *kind = &schema->kinds[r->tag_kind & 0xff];
        if (__builtin_expect(!kind->identical, 0)) {
            if (!kind->desc || kind->desc->role == PT_ROLE_UNIT)
                continue;
            pt_schema_convert(kind, r);
        }
        struct pt_item *item = &batch->items[batch->n];
        const bool is_span = kind->desc->role == PT_ROLE_SPAN;
        if (kind->desc->role == PT_ROLE_UNIT)
            continue;
        item->duration_ns = is_span ? pt_round_duration(pt_scale_duration(scale, pt_duration_ticks(r->aux))) : 0;
        if (pt_is_left_out(source, kind->desc->category, item->duration_ns))
            continue;
        item->end_ns = pt_scale_time(scale, r->stamp >> PT_GENERATION_BITS) + item->duration_ns;
        item->aux = is_span ? 0 : r->aux;
        item->tag_kind = r->tag_kind;
        item->words[0] = r->words[0];
        item->words[1] = r->words[1];
        if (batch->n)
            keep_before(item - 1, item);
        batch->n++;
    }
}

static pt_u32 keep_records(const pt_u8 *raw, pt_u32 bytes, pt_u32 generation, struct pt_record *records)
{
    pt_u32 n = 0;
    for (pt_u32 at = 0; at + sizeof *records <= bytes && n < PT_BLOCK_MAX_EVENTS; at += sizeof *records) {
        memcpy(&records[n], raw + at, sizeof *records);
        n += (records[n].stamp & PT_GENERATION_MASK) == generation && (records[n].tag_kind & 0xff);
    }
    return n;
}

static bool is_in_order(const struct pt_batch *batch)
{
    for (pt_u32 i = 1; i < batch->n; i++)
        if (batch->items[i].end_ns < batch->items[i - 1].end_ns)
            return false;
    return true;
}

int pt_decode(struct pt_decoder *decoder, const struct pt_decode_source *source, size_t item, struct pt_batch *batch)
{
    batch->n = 0;
    const struct pt_slot_blocks *blocks = source->blocks;
    struct pt_block header;
    const pt_u8 *encoded = pt_block_load(decoder->loader, source->file, blocks, item, &header);
    if (!encoded)
        return -1;
    const bool is_raw = header.coding == PT_CODING_RAW;
    const pt_u32 bytes = header.encoded_bytes;
    int n;
    if (blocks->buffer == PT_BUFFER_HEAP) {
        n = is_raw ? (int)keep_units(encoded, bytes, header.generation, decoder->units)
                   : pt_decode_units(encoded, bytes, decoder->units, PT_BLOCK_MAX_EVENTS);
        if (n < 0)
            return -1;
        decode_units(source, decoder->units, (pt_u32)n, pt_slot_blocks_next_ticks(blocks, item), batch);
    } else {
        n = is_raw ? (int)keep_records(encoded, bytes, header.generation, decoder->records)
                   : pt_decode_records(encoded, bytes, decoder->records, PT_BLOCK_MAX_EVENTS, decoder->words);
        if (n < 0)
            return -1;
        decode_records(source, decoder->records, (pt_u32)n, batch);
    }
    if (!is_in_order(batch))
        sort_items(batch->items, batch->n, decoder->sorted);
    return 0;
}
