/* SPDX-License-Identifier: MIT
 *
 * area.c - lays out a thread's area: the header with its totals, the raw buffers, the first definitions.
 *
 * Entered with signals blocked, by the thread that gets the area. Never: gives memory that is not zero to a thread; the
 * magic is stored last, so a killed process leaves no half area.
 */
#include "area.h"

#include "proftrace/codec.h"
#include "core/options.h"

#define DEFS_BYTES 16384u
#define RECORDS_BYTES (PT_CODEC_MAX_RECORDS * (pt_u32)sizeof(struct pt_record))
#define UNITS_BYTES (PT_CODEC_MAX_UNITS * (pt_u32)sizeof(struct pt_unit16))

pt_u64 pt_area_bytes(void)
{
    return PT_THREAD_HEADER_BYTES + RECORDS_BYTES + DEFS_BYTES + (pt_options.heap == PT_HEAP_FULL ? UNITS_BYTES : 0);
}

static void set_up_buffer(struct pt_tracer_thread *t, struct pt_buffer *buffer, enum pt_buffer_id which, pt_u32 offset,
                          pt_u32 bytes)
{
    struct pt_raw_buffer *raw = &t->area->raw[which];
    raw->offset = offset;
    raw->bytes = bytes;
    buffer->base = (char *)t->area + offset;
    buffer->sequence = 1;
    buffer->generation = 1;
    buffer->clear_sequence = 1;
    raw->sequence = buffer->sequence << PT_GENERATION_BITS | buffer->generation;
    buffer->cursor = buffer->base;
    buffer->end = buffer->base + bytes;
}

void pt_area_set_up(struct pt_tracer_thread *t, char *memory)
{
    t->area = (struct pt_thread_area *)(void *)memory;
    struct pt_thread_area *area = t->area;
    area->segment.type = PT_SEGMENT_THREAD;
    area->segment.bytes = pt_area_bytes();
    area->segment.slot = t->slot;
    pt_u32 at = PT_THREAD_HEADER_BYTES;
    set_up_buffer(t, &t->records, PT_BUFFER_RECORDS, at, RECORDS_BYTES);
    at += RECORDS_BYTES;
    if (pt_options.heap == PT_HEAP_FULL) {
        set_up_buffer(t, &t->heap, PT_BUFFER_HEAP, at, UNITS_BYTES);
        at += UNITS_BYTES;
    }
    area->defs_offset = at;
    area->defs_bytes = DEFS_BYTES;
    t->defs_cursor = memory + at;
    t->defs_end = t->defs_cursor + DEFS_BYTES;
    __atomic_store_n(&area->segment.magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}
