/* SPDX-License-Identifier: MIT
 *
 * trace_writer.c - Owns: a trace file being put together in memory. Threads: one per writer. Never: used by the
 * injected half, whose own writer survives kills; this one is simple.
 */
#include "trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proftrace/codec.h"
#include "proftrace/schema_text.h"
#include "util/auto.h"
#include "util/map.h"
#include "util/str.h"
#include "util/vec.h"

enum { RAW_BUFFER_BYTES = 64 * 1024, MINUTES_BYTES = 64 * 1024 };

/* What one buffer of a slot holds: the open block and the blocks so far. */
struct pending {
    struct {
        PT_VEC(struct pt_record);
    } records;
    struct {
        PT_VEC(struct pt_unit16);
    } units;
    pt_u32 life, tid;
    pt_u64 sequence, events;
};

struct writer_slot {
    pt_u32 slot;
    struct pt_thread_area area;
    struct pending pending[PT_BUFFER__COUNT];
    struct pt_str blocks, minutes;
    struct {
        PT_VEC(struct pt_str);
    } full_minutes; /* segments */
};

struct pt_trace_writer {
    struct pt_file_header header;
    struct pt_str text, definitions, output;
    struct {
        PT_VEC(struct writer_slot *);
    } slots;
    struct pt_intern names;
    struct pt_map ids; /* interned pointer -> id */
    pt_u32 n_strings, n_stacks, n_modules;
    enum pt_block_coding coding;
    bool keep_raw;
    ZSTD_CCtx *zstd;
    struct pt_codec_scratch scratch;
};

struct pt_trace_writer *pt_trace_writer_new(void)
{
    struct pt_trace_writer *writer = pt_calloc(1, sizeof *writer);
    writer->coding = PT_CODING_ZSTD;
    writer->zstd = ZSTD_createCCtx();
    struct pt_file_header *h = &writer->header;
    memcpy(h->magic, PT_FILE_MAGIC, 8);
    h->format_version = PT_FORMAT_VERSION;
    h->clock_source = PT_CLOCK_MONOTONIC;
    h->trace_id = 1;
    h->state = PT_PROCESS_LIVE;
    return writer;
}

void pt_trace_writer_free(struct pt_trace_writer *writer)
{
    if (!writer)
        return;
    for (size_t i = 0; i < writer->slots.n; i++) {
        struct writer_slot *slot = writer->slots.items[i];
        for (int s = 0; s < PT_BUFFER__COUNT; s++) {
            free(slot->pending[s].records.items);
            free(slot->pending[s].units.items);
        }
        pt_str_fini(&slot->blocks);
        pt_str_fini(&slot->minutes);
        for (size_t k = 0; k < slot->full_minutes.n; k++)
            pt_str_fini(&slot->full_minutes.items[k]);
        free(slot->full_minutes.items);
        free(slot);
    }
    free(writer->slots.items);
    pt_str_fini(&writer->text);
    pt_str_fini(&writer->definitions);
    pt_str_fini(&writer->output);
    pt_intern_fini(&writer->names);
    pt_map_fini(&writer->ids);
    ZSTD_freeCCtx(writer->zstd);
    free(writer);
}

struct pt_file_header *pt_writer_header(struct pt_trace_writer *writer)
{
    return &writer->header;
}

void pt_writer_text(struct pt_trace_writer *writer, const char *const *texts, pt_u32 n)
{
    pt_str_clear(&writer->text);
    for (pt_u32 i = 0; i < n; i++)
        if (writer->text.n + strlen(texts[i]) + 1 <= PT_TEXT_BYTES)
            pt_str_bytes(&writer->text, texts[i], strlen(texts[i]) + 1);
}

static struct writer_slot *slot_of(struct pt_trace_writer *writer, pt_u32 number)
{
    for (size_t i = 0; i < writer->slots.n; i++)
        if (writer->slots.items[i]->slot == number)
            return writer->slots.items[i];
    struct writer_slot *slot = pt_calloc(1, sizeof *slot);
    slot->slot = number;
    slot->area.life = 1;
    for (int s = 0; s < PT_BUFFER__COUNT; s++)
        slot->pending[s].sequence = 1;
    pt_vec_push(&writer->slots, slot);
    return slot;
}

struct pt_thread_area *pt_writer_area(struct pt_trace_writer *writer, pt_u32 slot)
{
    return &slot_of(writer, slot)->area;
}

/* ---- definitions ---- */

void pt_writer_define(struct pt_trace_writer *writer, pt_u16 type, pt_u32 id, pt_u64 ticks, const void *payload,
                      pt_u32 bytes)
{
    static const char padding[8];
    const pt_u64 whole = (sizeof(struct pt_def) + (pt_u64)bytes + 7) & ~7ull;
    const struct pt_def def = {
        .commit = PT_DEF_MAGIC | whole << 32,
        .id = id,
        .type = type,
        .crc = pt_crc32c(0, payload, bytes),
        .payload_bytes = bytes,
        .ticks = ticks,
    };
    pt_str_bytes(&writer->definitions, (const char *)&def, sizeof def);
    pt_str_bytes(&writer->definitions, payload, bytes);
    pt_str_bytes(&writer->definitions, padding, whole - sizeof def - bytes);
}

/* The id of a payload among those of its type, defined at its first use. */
static pt_u32 define_once(struct pt_trace_writer *writer, pt_u16 type, pt_u32 *last_id, const char *bytes, pt_u32 n)
{
    PT_AUTO(pt_str_fini) struct pt_str key = {0};
    pt_str_char(&key, (char)type);
    pt_str_bytes(&key, bytes, n);
    uint64_t *id = pt_map_at(&writer->ids, (uintptr_t)pt_intern_bytes(&writer->names, key.text, key.n));
    if (!*id) {
        *id = ++*last_id;
        pt_writer_define(writer, type, *last_id, 0, bytes, n);
    }
    return (pt_u32)*id;
}

pt_u32 pt_writer_string(struct pt_trace_writer *writer, const char *bytes, pt_u32 n)
{
    return define_once(writer, PT_DEF_STRING, &writer->n_strings, bytes, n);
}

pt_u32 pt_writer_stack(struct pt_trace_writer *writer, const pt_u64 *frames, pt_u32 n)
{
    PT_AUTO(pt_str_fini) struct pt_str payload = {0};
    pt_u64 last = 0;
    for (pt_u32 i = 0; i < n; i++) {
        pt_u64 value = pt_zigzag((pt_i64)(frames[i] - last));
        last = frames[i];
        for (; value >= 0x80; value >>= 7)
            pt_str_char(&payload, (char)(value | 0x80));
        pt_str_char(&payload, (char)value);
    }
    return define_once(writer, PT_DEF_STACK, &writer->n_stacks, pt_str_text(&payload), (pt_u32)payload.n);
}

void pt_writer_module(struct pt_trace_writer *writer, const struct pt_def_module *module, pt_u64 ticks,
                      const void *build_id, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str payload = {0};
    struct pt_def_module head = *module;
    head.path_bytes = (pt_u32)strlen(path);
    pt_str_bytes(&payload, (const char *)&head, sizeof head);
    pt_str_bytes(&payload, build_id, head.build_id_bytes);
    pt_str_add(&payload, path);
    pt_writer_define(writer, PT_DEF_MODULE, ++writer->n_modules, ticks, payload.text, (pt_u32)payload.n);
}

/* ---- blocks ---- */

static struct pt_encoded encode(struct pt_trace_writer *writer, struct pending *pending, int which, pt_u32 generation)
{
    if (which == PT_BUFFER_HEAP)
        return pt_encode_units(pending->units.items, (pt_u32)pending->units.n, generation, &writer->scratch);
    return pt_encode_records(pending->records.items, (pt_u32)pending->records.n, generation, &writer->scratch);
}

/* Give all that is pending this generation. */
static void set_generation(struct pending *pending, pt_u64 generation)
{
    for (size_t i = 0; i < pending->records.n; i++)
        pending->records.items[i].stamp = (pending->records.items[i].stamp & ~(pt_u64)PT_GENERATION_MASK) | generation;
    for (size_t i = 0; i < pending->units.n; i++)
        pending->units.items[i].head = (pending->units.items[i].head & ~(pt_u64)PT_GENERATION_MASK) | generation;
}

static void append_block(struct writer_slot *slot, struct pt_block *h, const void *payload)
{
    static const char padding[PT_BLOCK_ALIGN];
    h->crc = pt_block_crc(h, payload);
    h->commit = PT_BLOCK_MAGIC;
    pt_str_bytes(&slot->blocks, (const char *)h, sizeof *h);
    pt_str_bytes(&slot->blocks, payload, h->stored_bytes);
    pt_str_bytes(&slot->blocks, padding, (PT_BLOCK_ALIGN - slot->blocks.n % PT_BLOCK_ALIGN) % PT_BLOCK_ALIGN);
}

/* Close the open block. */
static void flush_pending(struct pt_trace_writer *writer, struct writer_slot *slot, int which)
{
    struct pending *pending = &slot->pending[which];
    if (!pending->records.n && !pending->units.n)
        return;
    const pt_u32 generation = pending->sequence & PT_GENERATION_MASK;
    set_generation(pending, generation);
    const struct pt_encoded encoded = encode(writer, pending, which, generation);
    struct pt_block h = {
        .stored_bytes = encoded.bytes,
        .encoded_bytes = encoded.bytes,
        .events = encoded.events,
        .coding = (pt_u8)writer->coding,
        .buffer = (pt_u8)which,
        .generation = (pt_u16)generation,
        .slot = slot->slot,
        .tid = pending->tid,
        .life = pending->life,
        .sequence = pending->sequence,
        .first_event = slot->area.raw[which].flushed_events + pending->events, /* the caller's: what was overwritten */
        .first_ticks = encoded.first_ticks,
        .last_ticks = encoded.last_ticks,
    };
    char packed[ZSTD_COMPRESSBOUND(PT_CODEC_MAX_BYTES)];
    const void *payload = writer->scratch.output;
    if (writer->coding == PT_CODING_ZSTD) {
        h.stored_bytes = (pt_u32)ZSTD_compressCCtx(writer->zstd, packed, sizeof packed, payload, encoded.bytes, 1);
        payload = packed;
    } else if (writer->coding == PT_CODING_RAW) {
        payload = which == PT_BUFFER_HEAP ? (const void *)pending->units.items : pending->records.items;
        h.stored_bytes =
            (pt_u32)(pending->units.n * sizeof(struct pt_unit16) + pending->records.n * sizeof(struct pt_record));
        h.encoded_bytes = h.stored_bytes;
    }
    append_block(slot, &h, payload);
    pending->events += encoded.events;
    pending->sequence++;
    pending->records.n = pending->units.n = 0;
}

static struct pending *pending_for(struct pt_trace_writer *writer, struct writer_slot *slot, int which, pt_u32 life,
                                   pt_u32 tid)
{
    struct pending *pending = &slot->pending[which];
    const bool full = pending->records.n == PT_CODEC_MAX_RECORDS || pending->units.n + 2 > PT_CODEC_MAX_UNITS;
    if (full || pending->life != life)
        flush_pending(writer, slot, which);
    pending->life = life;
    pending->tid = tid;
    return pending;
}

void pt_writer_record(struct pt_trace_writer *writer, pt_u32 slot, pt_u32 life, pt_u32 tid,
                      const struct pt_record *record)
{
    struct pending *pending = pending_for(writer, slot_of(writer, slot), PT_BUFFER_RECORDS, life, tid);
    pt_vec_push(&pending->records, *record);
}

void pt_writer_plain_unit(struct pt_trace_writer *writer, pt_u32 slot, pt_u32 life, pt_u32 tid, struct pt_unit16 unit)
{
    struct pending *pending = pending_for(writer, slot_of(writer, slot), PT_BUFFER_HEAP, life, tid);
    pt_vec_push(&pending->units, unit);
}

void pt_writer_unit(struct pt_trace_writer *writer, pt_u32 slot, pt_u32 life, pt_u32 tid, pt_u64 ticks,
                    struct pt_unit16 unit)
{
    struct pending *pending = pending_for(writer, slot_of(writer, slot), PT_BUFFER_HEAP, life, tid);
    pt_vec_push(&pending->units, ((struct pt_unit16){PT_UNIT_CLOCK << PT_GENERATION_BITS, ticks}));
    pt_vec_push(&pending->units, unit);
}

void pt_writer_minutes(struct pt_trace_writer *writer, pt_u32 number, const struct pt_minutes_entry *entry)
{
    struct writer_slot *slot = slot_of(writer, number);
    if (slot->minutes.n > MINUTES_BYTES - PT_MINUTES_ROW_BYTES) {
        pt_vec_push(&slot->full_minutes, slot->minutes);
        slot->minutes = (struct pt_str){0};
    }
    pt_minutes_append(&slot->minutes, entry);
}

void pt_writer_coding(struct pt_trace_writer *writer, enum pt_block_coding coding)
{
    writer->coding = coding;
}

void pt_writer_flush(struct pt_trace_writer *writer, pt_u32 slot)
{
    for (int which = 0; which < PT_BUFFER__COUNT; which++)
        flush_pending(writer, slot_of(writer, slot), which);
}

void pt_writer_keep_raw(struct pt_trace_writer *writer, bool keep)
{
    writer->keep_raw = keep;
}

/* ---- the file ---- */

static void pad_to_page(struct pt_str *out)
{
    static const char zeros[256];
    while (out->n % PT_PAGE_BYTES) {
        const size_t left = PT_PAGE_BYTES - out->n % PT_PAGE_BYTES;
        pt_str_bytes(out, zeros, left < sizeof zeros ? left : sizeof zeros);
    }
}

static void append_segment(struct pt_str *out, pt_u16 type, pt_u32 slot, pt_u64 serial, const struct pt_str *content)
{
    if (!content->n)
        return;
    const pt_u64 whole = (sizeof(struct pt_segment) + content->n + PT_PAGE_BYTES - 1) & ~(pt_u64)(PT_PAGE_BYTES - 1);
    const struct pt_segment head = {PT_SEGMENT_MAGIC, type, 0, whole, slot, 0, serial, {0}};
    pt_str_bytes(out, (const char *)&head, sizeof head);
    pt_str_bytes(out, content->text, content->n);
    pad_to_page(out);
}

static void append_area(struct pt_trace_writer *writer, struct writer_slot *slot)
{
    struct pt_str *out = &writer->output;
    const size_t start = out->n;
    struct pt_thread_area area = slot->area;
    area.segment = (struct pt_segment){.slot = slot->slot};
    area.segment.magic = PT_SEGMENT_MAGIC;
    area.segment.type = PT_SEGMENT_THREAD;
    area.segment.bytes = PT_THREAD_HEADER_BYTES + (writer->keep_raw ? 2 * RAW_BUFFER_BYTES : 0);
    area.totals_seq = ~0ull >> PT_GENERATION_BITS;
    memcpy(area.totals[1], area.totals[0], sizeof area.totals[0]);
    char raw[2][RAW_BUFFER_BYTES] = {{0}};
    for (int which = 0; which < PT_BUFFER__COUNT; which++) {
        struct pending *pending = &slot->pending[which];
        struct pt_raw_buffer *buffer = &area.raw[which];
        buffer->sequence = pending->sequence << PT_GENERATION_BITS | (pending->sequence & PT_GENERATION_MASK);
        buffer->flushed_events += pending->events;
        if (!writer->keep_raw)
            continue;
        buffer->offset = PT_THREAD_HEADER_BYTES + (pt_u32)which * RAW_BUFFER_BYTES;
        buffer->bytes = RAW_BUFFER_BYTES;
        set_generation(pending, pending->sequence & PT_GENERATION_MASK);
        if (pending->records.n)
            memcpy(raw[which], pending->records.items, pending->records.n * sizeof(struct pt_record));
        if (pending->units.n)
            memcpy(raw[which], pending->units.items, pending->units.n * sizeof(struct pt_unit16));
    }
    pt_str_bytes(out, (const char *)&area, sizeof area);
    static const char zeros[PT_THREAD_HEADER_BYTES];
    pt_str_bytes(out, zeros, PT_THREAD_HEADER_BYTES - (out->n - start));
    if (writer->keep_raw)
        pt_str_bytes(out, raw[0], sizeof raw);
}

static void append_head(struct pt_trace_writer *writer)
{
    struct pt_str *out = &writer->output;
    struct pt_file_header *h = &writer->header;
    h->text_offset = PT_PAGE_BYTES;
    h->text_bytes = (pt_u32)writer->text.n;
    h->schema_offset = PT_PAGE_BYTES * 2;
    h->schema_bytes = sizeof pt_schema_text - 1;
    h->header_bytes = PT_PAGE_BYTES * (3 + (h->schema_bytes - 1) / PT_PAGE_BYTES);
    pt_str_bytes(out, (const char *)h, sizeof *h);
    pt_str_bytes(out, pt_str_text(&writer->text), writer->text.n);
    /* A text page of exactly one page is padded already; an empty one still takes its page. */
    if (!writer->text.n)
        pt_str_char(out, 0);
    pad_to_page(out);
    pt_str_bytes(out, pt_schema_text, h->schema_bytes);
    pad_to_page(out);
}

const pt_u8 *pt_writer_finish(struct pt_trace_writer *writer, pt_u64 *ret_bytes)
{
    struct pt_str *out = &writer->output;
    pt_str_clear(out);
    append_head(writer);
    for (size_t i = 0; i < writer->slots.n; i++) {
        struct writer_slot *slot = writer->slots.items[i];
        for (int which = 0; which < PT_BUFFER__COUNT && !writer->keep_raw; which++)
            flush_pending(writer, slot, which);
        append_area(writer, slot);
    }
    append_segment(out, PT_SEGMENT_DEFS, 0, 0, &writer->definitions);
    for (size_t i = 0; i < writer->slots.n; i++)
        append_segment(out, PT_SEGMENT_BLOCKS, writer->slots.items[i]->slot, i + 1, &writer->slots.items[i]->blocks);
    for (size_t i = 0; i < writer->slots.n; i++) {
        const struct writer_slot *slot = writer->slots.items[i];
        for (size_t k = 0; k < slot->full_minutes.n; k++)
            append_segment(out, PT_SEGMENT_MINUTES, slot->slot, 0, &slot->full_minutes.items[k]);
        append_segment(out, PT_SEGMENT_MINUTES, slot->slot, 0, &slot->minutes);
    }
    writer->header.file_bytes = out->n;
    memcpy(out->text, &writer->header, sizeof writer->header);
    *ret_bytes = out->n;
    return (const pt_u8 *)out->text;
}

int pt_writer_save(struct pt_trace_writer *writer, const char *path, struct pt_error *err)
{
    pt_u64 bytes;
    const pt_u8 *content = pt_writer_finish(writer, &bytes);
    FILE *file = fopen(path, "we");
    if (!file)
        return pt_fail(err, "cannot write %s: %s", path, strerror(errno));
    const bool written = fwrite(content, 1, bytes, file) == bytes;
    if (fclose(file) != 0 || !written)
        return pt_fail(err, "cannot write %s: %s", path, strerror(errno));
    return 0;
}
