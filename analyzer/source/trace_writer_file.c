/* SPDX-License-Identifier: MIT
 *
 * trace_writer_file.c - Owns: the layout of a trace file that trace_writer.c has collected. Threads: one per writer.
 * Never: changes what was collected.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "trace_writer_data.h"

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
    for (int kind = 0; kind < PT_STREAM__COUNT; kind++) {
        struct writer_stream *stream = &slot->streams[kind];
        struct pt_raw_buffer *buffer = &area.raw[kind];
        buffer->sequence = stream->sequence << PT_GENERATION_BITS | (stream->sequence & PT_GENERATION_MASK);
        buffer->flushed_events += stream->events; /* the caller may have set what was overwritten */
        if (!writer->keep_raw)
            continue;
        buffer->offset = PT_THREAD_HEADER_BYTES + (pt_u32)kind * RAW_BUFFER_BYTES;
        buffer->bytes = RAW_BUFFER_BYTES;
        pt_writer_set_generation(stream, stream->sequence & PT_GENERATION_MASK);
        if (stream->records.n)
            memcpy(raw[kind], stream->records.items, stream->records.n * sizeof(struct pt_record));
        if (stream->units.n)
            memcpy(raw[kind], stream->units.items, stream->units.n * sizeof(struct pt_unit16));
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
        for (int kind = 0; kind < PT_STREAM__COUNT && !writer->keep_raw; kind++)
            pt_writer_flush_stream(writer, slot, kind);
        append_area(writer, slot);
    }
    append_segment(out, PT_SEGMENT_DEFS, 0, 0, &writer->definitions);
    for (size_t i = 0; i < writer->slots.n; i++)
        append_segment(out, PT_SEGMENT_BLOCKS, writer->slots.items[i]->slot, i + 1, &writer->slots.items[i]->blocks);
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
