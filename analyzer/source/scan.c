/* SPDX-License-Identifier: MIT
 *
 * scan.c - Owns: the walk over a file's segments, and over the definitions and blocks in them. Threads: one, while the
 * file is opened. Never: trusts a length; damage is skipped and counted.
 */
#include "scan.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"
#include "block.h"

enum {
    MAX_AREA_TAIL = 64 << 20,
    MAX_DEFINITION_BYTES = 1 << 20,
    MOST_LOOKS = 16, /* at bytes of damaged definitions, on average */
    MAX_SLOT = 65535,
};

/* The slot's entry, made if there is none. */
static struct pt_trace_slot *slot_at(struct pt_trace_file *file, pt_u32 slot)
{
    uint64_t *place = pt_map_at(&file->slot_at, slot);
    if (!*place) {
        pt_vec_push(&file->slots, ((struct pt_trace_slot){.slot = slot}));
        for (pt_u32 which = 0; which < PT_BUFFER__COUNT; which++)
            file->slots.items[file->slots.n - 1].blocks[which] = (struct pt_slot_blocks){.slot = slot, .buffer = which};
        *place = file->slots.n;
    }
    return &file->slots.items[*place - 1];
}

static pt_u64 seek(const struct pt_trace_file *file, pt_u64 at, int whence, pt_u64 otherwise)
{
    if (at >= file->bytes)
        return file->bytes;
    if (file->base)
        return otherwise; /* a head has none */
    const off_t found = lseek(file->fd, (off_t)at, whence);
    if (found < 0)
        return errno == ENXIO ? file->bytes : otherwise; /* a file system without holes */
    return (pt_u64)found < file->bytes ? (pt_u64)found : file->bytes;
}

/* The first byte at or behind `at` that does not lie in a hole. A file of 4 KiB may be a terabyte long. */
static pt_u64 next_data(const struct pt_trace_file *file, pt_u64 at)
{
    return seek(file, at, SEEK_DATA, at);
}

/* The first hole behind `at`: the end of the file where there is none. */
static pt_u64 next_hole(const struct pt_trace_file *file, pt_u64 at)
{
    return seek(file, at, SEEK_HOLE, file->bytes);
}

static bool checksum_holds(const struct pt_def *def, const pt_u8 *payload)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)def, (void)payload; /* see block.c */
    return true;
#else
    return pt_crc32c(0, payload, def->payload_bytes) == def->crc;
#endif
}

static bool definition_is_sane(const struct pt_def *def, pt_u64 left)
{
    const pt_u64 bytes = def->commit >> 32;
    return (pt_u32)def->commit == PT_DEF_MAGIC && bytes >= sizeof *def && bytes <= left && bytes % 8 == 0 &&
           def->payload_bytes <= bytes - sizeof *def && def->payload_bytes <= MAX_DEFINITION_BYTES;
}

/* One definition at `at`; its whole length in the file, or 0 when there is none. What it says of itself may be wrong:
 * what was looked at for nothing is added to `wasted_bytes`. */
static pt_u64 take_definition(struct pt_trace_file *file, pt_u32 slot, const pt_u8 *at, pt_u64 left,
                              pt_u64 *wasted_bytes)
{
    struct pt_def def;
    if (left < sizeof def)
        return 0;
    memcpy(&def, at, sizeof def);
    if (!definition_is_sane(&def, left))
        return 0;
    if (!checksum_holds(&def, at + sizeof def)) {
        *wasted_bytes += def.payload_bytes;
        return 0;
    }
    pt_vec_push(&file->definitions,
                ((struct pt_definition){
                    .type = def.type,
                    .id = def.id,
                    .slot = slot,
                    .bytes = def.payload_bytes,
                    .ticks = def.ticks,
                    .payload = (const pt_u8 *)pt_arena_text(&file->arena, at + sizeof def, def.payload_bytes),
                }));
    return def.commit >> 32;
}

/* Definitions of one piece of the file that has no hole. */
static void scan_piece(struct pt_trace_file *file, pt_u32 slot, pt_u64 offset, pt_u64 bytes)
{
    pt_u8 *buffer = pt_malloc(bytes);
    bytes = pt_trace_file_scan(file, offset, buffer, bytes);
    bool in_damage = false;
    pt_u64 wasted_bytes = 0;
    /* Each 32 bytes may say that they begin a mebibyte: hours of checksums in 64 MiB. */
    for (pt_u64 at = 0; at + 8 <= bytes && wasted_bytes <= bytes * MOST_LOOKS;) {
        const pt_u64 taken = take_definition(file, slot, buffer + at, bytes - at, &wasted_bytes);
        pt_u32 magic;
        memcpy(&magic, buffer + at, 4);
        if (taken) {
            at += taken;
            in_damage = false;
            continue;
        }
        /* Zeros are a definition whose writer was killed or stopped: the next one is found by its magic number. */
        if (magic == PT_DEF_MAGIC && !in_damage) {
            file->corrupt_definitions++;
            in_damage = true;
        }
        at += 8;
    }
    free(buffer);
}

static void scan_definitions(struct pt_trace_file *file, pt_u32 slot, pt_u64 offset, pt_u64 bytes)
{
    if (offset >= file->bytes)
        return;
    bytes = bytes < file->bytes - offset ? bytes : file->bytes - offset;
    const pt_u64 end = offset + (bytes < MAX_AREA_TAIL ? bytes : MAX_AREA_TAIL);
    for (pt_u64 at = offset; at < end;) {
        const pt_u64 data = next_data(file, at) & ~7ull;
        const pt_u64 from = data > at ? data : at, hole = next_hole(file, from);
        const pt_u64 until = hole < end ? hole : end;
        if (from < until)
            scan_piece(file, slot, from, until - from);
        at = until > from ? until : end;
    }
}

/* What was read last in the search for a block: damage that comes every few bytes is looked at once. */
struct window {
    pt_u8 *bytes;
    pt_u64 from, n;
};

static void window_free(struct window *window)
{
    free(window->bytes);
}

static bool has_header(const struct window *window, pt_u64 at)
{
    return at >= window->from && at + sizeof(struct pt_block) <= window->from + window->n;
}

/* The header that lies at `at`, of which there may be a part. */
static pt_u64 look(struct pt_trace_file *file, struct window *window, pt_u64 at, struct pt_block *ret_block)
{
    enum { WINDOW = 64 * 1024 };
    if (!has_header(window, at)) {
        window->bytes = window->bytes ? window->bytes : pt_malloc(WINDOW);
        window->from = at;
        window->n = pt_trace_file_scan(file, at, window->bytes, WINDOW);
    }
    const pt_u64 left = window->from + window->n - at, n = left < sizeof *ret_block ? left : sizeof *ret_block;
    *ret_block = (struct pt_block){0};
    memcpy(ret_block, window->bytes + (at - window->from), n);
    return n;
}

/* `left` bytes follow its header in the segment. */
static bool is_block(const struct pt_block *block, pt_u64 at, pt_u64 left)
{
    return pt_block_is_sane(block, left) && block->slot <= MAX_SLOT && at < PT_BLOCK_MAX_OFFSET;
}

/* From a place without a block: the next one in the segment, or `end`. */
static pt_u64 find_block(struct pt_trace_file *file, struct window *window, pt_u64 at, pt_u64 end)
{
    struct pt_block block;
    while (at + sizeof block <= end) {
        if (!has_header(window, at)) {
            const pt_u64 data = next_data(file, at) & ~(pt_u64)(PT_BLOCK_ALIGN - 1);
            at = data > at ? data : at;
            if (at + sizeof block > end)
                break;
        }
        if (look(file, window, at, &block) < sizeof block)
            break;
        if (is_block(&block, at, end - at - sizeof block))
            return at;
        file->corrupt_blocks += block.commit == PT_BLOCK_MAGIC;
        at += PT_BLOCK_ALIGN;
    }
    return end;
}

static void scan_blocks(struct pt_trace_file *file, pt_u32 segment, pt_u64 offset, pt_u64 bytes)
{
    PT_AUTO(window_free) struct window window = {0};
    const pt_u64 end = offset + bytes;
    pt_u64 at = offset + sizeof(struct pt_segment);
    while (at + sizeof(struct pt_block) <= end) {
        struct pt_block block;
        if (pt_trace_file_scan(file, at, &block, sizeof block) < sizeof block)
            return;
        if (!is_block(&block, at, end - at - sizeof block)) {
            if (block.commit == PT_BLOCK_MAGIC)
                file->corrupt_blocks++;
            at = find_block(file, &window, at + PT_BLOCK_ALIGN, end);
            continue;
        }
        pt_slot_blocks_add(&slot_at(file, block.slot)->blocks[block.buffer], &block, at, segment);
        const pt_u64 next = at + sizeof block + block.stored_bytes;
        at = offset + ((next - offset + PT_BLOCK_ALIGN - 1) & ~(pt_u64)(PT_BLOCK_ALIGN - 1));
    }
}

/* In format 1 the wide heap counters and the totals lay in front of the fields that precede them now. */
static void as_format_2(struct pt_thread_area *area)
{
    pt_u8 old[sizeof *area], *to = (pt_u8 *)area;
    enum { HEAP = sizeof area->heap_spilled, FREES = 2 * sizeof(pt_u64), TOTALS = sizeof area->totals };
    const size_t at = offsetof(struct pt_thread_area, heap_frees), counted = sizeof area->counted_calls * 2;
    memcpy(old, area, sizeof old);
    memcpy(to + at, old + at + HEAP, FREES);
    memcpy(to + at + FREES, old + at + HEAP + FREES + TOTALS, counted);
    memcpy(area->heap_spilled, old + at, HEAP);
    memcpy(area->totals, old + at + HEAP + FREES, TOTALS);
}

/* While another thread moved the head into a file of its own, its owner went on counting. */
static void add_what_came_between(struct pt_thread_area *area)
{
    pt_u8 *counters = (pt_u8 *)area + offsetof(struct pt_thread_area, heap_frees);
    for (pt_u32 i = 0; i < PT_COUNTER_WORDS; i++) {
        pt_u64 counter;
        memcpy(&counter, counters + i * sizeof counter, sizeof counter);
        counter += area->came_between[i];
        memcpy(counters + i * sizeof counter, &counter, sizeof counter);
        area->came_between[i] = 0;
    }
}

static void scan_area(struct pt_trace_file *file, pt_u32 number, pt_u64 offset, pt_u64 bytes)
{
    const pt_u64 whole = file->header->format_version < 2 ? sizeof(struct pt_thread_area) : PT_AREA_SMALL_BYTES;
    if (number > MAX_SLOT || bytes < whole) {
        file->corrupt_segments++;
        return;
    }
    struct pt_trace_slot *slot = slot_at(file, number);
    if (slot->area_bytes) {
        file->corrupt_segments++; /* two areas claim one slot: the first one counts */
        return;
    }
    slot->area_offset = offset;
    slot->area_bytes = bytes;
    struct pt_thread_area area = {0};
    const pt_u64 header = bytes < sizeof area ? PT_AREA_SMALL_BYTES : sizeof area;
    if (pt_trace_file_scan(file, offset, &area, header) < header) {
        file->is_area_cut = true;
        return;
    }
    if (file->header->format_version < 2)
        as_format_2(&area);
    add_what_came_between(&area);
    slot->totals_seq = area.totals_seq;
    pt_trace_slot_keep_area(slot, &area);
    pt_u64 defs, room;
    if (area.defs_offset && pt_trace_slot_part(slot, area.defs_offset, &defs, &room))
        scan_definitions(file, number, defs, area.defs_bytes < room ? area.defs_bytes : room);
}

/* Where the next segment may begin: this place is damaged, inside of a damaged segment, or was never set up. */
static pt_u64 behind_damage(const struct pt_trace_file *file, pt_u64 at)
{
    const pt_u64 next = (at + PT_PAGE_BYTES) & ~(pt_u64)(PT_PAGE_BYTES - 1),
                 data = next_data(file, next) & ~(pt_u64)(PT_PAGE_BYTES - 1);
    return data > next ? data : next;
}

static bool is_within(pt_u64 at, pt_u64 offset, pt_u64 bytes)
{
    return at >= offset && at - offset < bytes;
}

/* The text and the schema, which are no segments. Another place without the magic was never set up, and is zero. */
static bool is_of_head(const struct pt_file_header *header, pt_u64 at)
{
    return is_within(at, header->text_offset, header->text_bytes) ||
           is_within(at, header->schema_offset, header->schema_bytes);
}

static bool segment_is_sane(const struct pt_segment *segment, pt_u64 at)
{
    /* The first one may begin within the head; all end with a page. */
    return segment->magic == PT_SEGMENT_MAGIC && segment->bytes >= sizeof *segment && segment->bytes <= ~0ull - at &&
           (at + segment->bytes) % PT_PAGE_BYTES == 0;
}

static void scan_segment(struct pt_trace_file *file, const struct pt_segment *segment, pt_u32 number, pt_u64 at,
                         pt_u64 bytes)
{
    if (segment->type == PT_SEGMENT_THREAD)
        scan_area(file, segment->slot, at, bytes);
    else if (segment->type == PT_SEGMENT_DEFS)
        scan_definitions(file, segment->slot, at + sizeof *segment, bytes - sizeof *segment);
    else if (segment->type == PT_SEGMENT_BLOCKS)
        scan_blocks(file, number, at, bytes);
    else if (segment->type == PT_SEGMENT_MINUTES)
        pt_vec_push(&file->minutes, ((struct pt_minutes_segment){at, bytes, segment->slot}));
    else
        file->corrupt_segments++;
}

void pt_scan_segments(struct pt_trace_file *file)
{
    pt_u32 n_segments = 0;
    bool in_damage = false;
    for (pt_u64 at = file->header->header_bytes; at + sizeof(struct pt_segment) <= file->bytes;) {
        struct pt_segment segment;
        if (pt_trace_file_scan(file, at, &segment, sizeof segment) < sizeof segment)
            return;
        if (!segment_is_sane(&segment, at)) {
            const bool is_damage = segment.magic && !in_damage && !is_of_head(file->header, at);
            file->corrupt_segments += is_damage;
            in_damage |= is_damage;
            at = behind_damage(file, at);
            continue;
        }
        in_damage = false;
        const pt_u64 left = file->bytes - at, bytes = segment.bytes < left ? segment.bytes : left;
        file->truncated |= segment.bytes > left;
        file->is_area_cut |= segment.type == PT_SEGMENT_THREAD && segment.bytes > left;
        scan_segment(file, &segment, n_segments++, at, bytes);
        at += bytes;
    }
}
