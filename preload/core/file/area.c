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
#include "image_state.h"

#define DEFS_BYTES 16384u
#define RECORDS_BYTES (PT_CODEC_MAX_RECORDS * (pt_u32)sizeof(struct pt_record))
#define UNITS_BYTES (PT_CODEC_MAX_UNITS * (pt_u32)sizeof(struct pt_unit16))

static pt_u64 units_bytes(void)
{
    return pt_options.heap == PT_HEAP_FULL ? UNITS_BYTES : 0;
}

pt_u64 pt_area_bytes(void)
{
    return PT_THREAD_HEADER_BYTES + RECORDS_BYTES + DEFS_BYTES + units_bytes();
}

pt_u64 pt_first_defs_at(void)
{
    return PT_FIRST_RECORDS_AT + RECORDS_BYTES + units_bytes();
}

pt_u64 pt_first_area_bytes(void)
{
    return pt_first_defs_at() - PT_HEAD_AREA_AT;
}

pt_u64 pt_first_text_at(void)
{
    return pt_first_defs_at() + PT_FIRST_DEFS_BYTES + PT_OWN_CHUNK_BYTES;
}

pt_u64 pt_first_bytes(void)
{
    return pt_first_text_at() + PT_TEXT_BYTES;
}

pt_u64 pt_first_low_bytes(void)
{
    return pt_first_bytes() - PT_FIRST_RECORDS_AT;
}

char *pt_first_in_memory(char *head, pt_u64 at)
{
    return at < PT_FIRST_RECORDS_AT ? head + at : head - pt_first_bytes() + at;
}

const char *pt_first_text(void)
{
    return pt_first_in_memory((char *)pt_image->header, pt_image->header->text_offset);
}

static void set_up_buffer(struct pt_tracer_thread *t, enum pt_buffer_id which, char *base, pt_i32 offset, pt_u32 bytes)
{
    struct pt_buffer *buffer = which == PT_BUFFER_HEAP ? &t->heap : &t->records;
    struct pt_raw_buffer *raw = &t->area->raw[which];
    raw->offset = offset;
    raw->bytes = bytes;
    buffer->base = base;
    buffer->sequence = 1;
    buffer->generation = 1;
    buffer->clear_sequence = 1;
    raw->sequence = buffer->sequence << PT_GENERATION_BITS | buffer->generation;
    buffer->cursor = buffer->base;
    buffer->end = buffer->base + bytes;
}

static struct pt_thread_area *begin_area(struct pt_tracer_thread *t, char *memory, pt_u64 bytes)
{
    t->area = (struct pt_thread_area *)(void *)memory;
    t->area->segment.type = PT_SEGMENT_THREAD;
    t->area->segment.bytes = bytes;
    t->area->segment.slot = t->slot;
    return t->area;
}

/* All but the magic. */
static void set_up_defs(struct pt_tracer_thread *t, pt_i32 offset, pt_u32 bytes)
{
    t->area->defs_offset = offset;
    t->area->defs_bytes = bytes;
    t->defs_cursor = (char *)t->area + offset;
    t->defs_end = t->defs_cursor + bytes;
}

void pt_area_set_up(struct pt_tracer_thread *t, char *memory)
{
    struct pt_thread_area *area = begin_area(t, memory, pt_area_bytes());
    pt_i32 at = PT_THREAD_HEADER_BYTES;
    set_up_buffer(t, PT_BUFFER_RECORDS, memory + at, at, RECORDS_BYTES);
    at += RECORDS_BYTES;
    if (pt_options.heap == PT_HEAP_FULL) {
        set_up_buffer(t, PT_BUFFER_HEAP, memory + at, at, UNITS_BYTES);
        at += UNITS_BYTES;
    }
    set_up_defs(t, at, DEFS_BYTES);
    t->own_chunk = memory + pt_area_bytes();
    __atomic_store_n(&area->segment.magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

static pt_i32 from_area(pt_u64 at)
{
    return (pt_i32)at - (pt_i32)PT_HEAD_AREA_AT;
}

void pt_first_area_set_up(struct pt_tracer_thread *t, char *head, int is_in_own_file)
{
    const struct pt_file_header *header = (const struct pt_file_header *)(void *)head;
    const pt_u32 text_end = header->text_offset < PT_HEAD_BYTES ? header->text_offset + header->text_bytes : 0;
    const pt_u32 defs_at = ((text_end ? text_end : PT_HEADER_BYTES) + 7) & ~7u;
    struct pt_thread_area *area =
        begin_area(t, head + PT_HEAD_AREA_AT, is_in_own_file ? pt_first_area_bytes() : PT_AREA_SMALL_BYTES);
    set_up_buffer(t, PT_BUFFER_RECORDS, head + PT_FIRST_SMALL_RECORDS_AT, from_area(PT_FIRST_SMALL_RECORDS_AT),
                  PT_FIRST_SMALL_RECORDS * (pt_u32)sizeof(struct pt_record));
    const pt_u64 units_at = PT_FIRST_RECORDS_AT + RECORDS_BYTES;
    if (pt_options.heap == PT_HEAP_FULL)
        set_up_buffer(t, PT_BUFFER_HEAP, pt_first_in_memory(head, units_at), from_area(units_at), UNITS_BYTES);
    set_up_defs(t, from_area(defs_at), PT_FIRST_SMALL_RECORDS_AT - defs_at);
    t->more_defs = pt_first_in_memory(head, pt_first_defs_at());
    t->own_chunk = t->more_defs + PT_FIRST_DEFS_BYTES;
    __atomic_store_n(&area->segment.magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

/* Killed in between, the sequence is that of a block that is there, or of records that were counted as lost. The end
 * before the cursor: a clone that shares the slot may store at any time. */
void pt_first_area_leave_head(struct pt_tracer_thread *t, char *head)
{
    struct pt_raw_buffer *raw = &t->area->raw[PT_BUFFER_RECORDS];
    raw->offset = from_area(PT_FIRST_RECORDS_AT);
    raw->bytes = RECORDS_BYTES;
    t->records.base = pt_first_in_memory(head, PT_FIRST_RECORDS_AT);
    t->records.end = t->records.base + RECORDS_BYTES;
    t->records.clear_sequence = t->records.sequence;
}
