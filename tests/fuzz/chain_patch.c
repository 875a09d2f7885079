/* SPDX-License-Identifier: MIT
 *
 * chain_patch.c - Owns: changes to finished trace files, with lengths and checksums right afterwards. Threads: one.
 */
#include "chain_patch.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proftrace/codec.h"
#include "util/mem.h"
#include "util/vec.h"

struct items {
    PT_VEC(size_t);
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void change(pt_u8 *bytes, size_t n, const struct chain_patch *patch)
{
    const size_t width = least(n, (size_t)1 << (patch->width & 3)), at = n > width ? patch->at % (n - width + 1) : 0;
    pt_u64 value = 0;
    memcpy(&value, bytes + at, width);
    switch (patch->op % CHAIN_OP__COUNT) {
    case CHAIN_SET:
        value = patch->value;
        break;
    case CHAIN_ADD:
        value += patch->value;
        break;
    default:
        value ^= patch->value;
    }
    memcpy(bytes + at, &value, width);
}

/* ---- where the parts of a file lie ---- */

static void find_definitions(const struct chain_file *file, size_t at, size_t end, struct items *found)
{
    struct pt_def def;
    for (; at + sizeof def <= end; at += (size_t)((def.commit >> 32) + 7) & ~(size_t)7) {
        memcpy(&def, file->bytes + at, sizeof def);
        if ((pt_u32)def.commit != PT_DEF_MAGIC || def.commit >> 32 < sizeof def ||
            def.payload_bytes > end - at - sizeof def)
            return;
        pt_vec_push(found, at);
    }
}

static void find_blocks(const struct chain_file *file, size_t at, size_t end, struct items *found)
{
    struct pt_block block;
    for (; at + sizeof block <= end; at += PT_BLOCK_ALIGN) {
        memcpy(&block, file->bytes + at, sizeof block);
        if (block.commit == PT_BLOCK_MAGIC && block.stored_bytes <= end - at - sizeof block)
            pt_vec_push(found, at);
    }
}

/* The segments, areas, definitions or blocks of a file. */
static void find(const struct chain_file *file, enum chain_part part, struct items *found)
{
    struct pt_file_header header;
    struct pt_segment segment;
    memcpy(&header, file->bytes, sizeof header);
    for (size_t at = header.header_bytes; at + sizeof segment <= file->n; at += (size_t)segment.bytes) {
        memcpy(&segment, file->bytes + at, sizeof segment);
        if (segment.magic != PT_SEGMENT_MAGIC || segment.bytes < sizeof segment || segment.bytes > file->n - at)
            return;
        const size_t from = at + sizeof segment, end = at + (size_t)segment.bytes;
        if (part == CHAIN_SEGMENT || (part == CHAIN_AREA && segment.type == PT_SEGMENT_THREAD))
            pt_vec_push(found, at);
        else if (part == CHAIN_DEF && segment.type == PT_SEGMENT_DEFS)
            find_definitions(file, from, end, found);
        else if ((part == CHAIN_BLOCK || part == CHAIN_EVENTS) && segment.type == PT_SEGMENT_BLOCKS)
            find_blocks(file, from - from % PT_BLOCK_ALIGN, end, found);
    }
}

/* ---- changes ---- */

static void change_definition(struct chain_file *file, size_t at, const struct chain_patch *patch)
{
    struct pt_def def;
    memcpy(&def, file->bytes + at, sizeof def);
    change(file->bytes + at, sizeof def + def.payload_bytes, patch);
    const size_t room = file->n - at - sizeof def;
    memcpy(&def, file->bytes + at, sizeof def);
    if (def.payload_bytes > room)
        return;
    def.crc = pt_crc32c(0, file->bytes + at + sizeof def, def.payload_bytes);
    memcpy(file->bytes + at, &def, sizeof def);
}

/* The checksum of a block whose payload lies behind it. */
static void seal(struct chain_file *file, size_t at, struct pt_block *block)
{
    if (block->stored_bytes <= file->n - at - sizeof *block)
        block->crc = pt_block_crc(block, file->bytes + at + sizeof *block);
    memcpy(file->bytes + at, block, sizeof *block);
}

static void change_block(struct chain_file *file, size_t at, const struct chain_patch *patch)
{
    struct pt_block block;
    change(file->bytes + at, sizeof block, patch);
    memcpy(&block, file->bytes + at, sizeof block);
    seal(file, at, &block);
}

/* More room behind a block: whole pages of zeros, by which its segment and the file grow. */
static void grow(struct chain_file *file, size_t at, size_t wanted)
{
    struct items segments = {0};
    struct pt_segment segment;
    const size_t more = (wanted + PT_PAGE_BYTES - 1) & ~(size_t)(PT_PAGE_BYTES - 1);
    find(file, CHAIN_SEGMENT, &segments);
    for (size_t i = 0; i < segments.n; i++) {
        const size_t begin = segments.items[i];
        memcpy(&segment, file->bytes + begin, sizeof segment);
        if (at <= begin || at > begin + segment.bytes)
            continue;
        segment.bytes += more;
        memcpy(file->bytes + begin, &segment, sizeof segment);
    }
    free(segments.items);
    file->bytes = pt_realloc(file->bytes, file->n + more);
    memmove(file->bytes + at + more, file->bytes + at, file->n - at);
    memset(file->bytes + at, 0, more);
    file->n += more;
}

static void change_events(struct chain_file *file, size_t at, const struct chain_patch *patch)
{
    static pt_u8 columns[PT_CODEC_MAX_BYTES], packed[ZSTD_COMPRESSBOUND(PT_CODEC_MAX_BYTES)];
    struct pt_block block;
    memcpy(&block, file->bytes + at, sizeof block);
    const size_t payload = at + sizeof block;
    const size_t n = ZSTD_decompress(columns, sizeof columns, file->bytes + payload, block.stored_bytes);
    if (block.coding != PT_CODING_ZSTD || ZSTD_isError(n) || !n)
        return;
    change(columns, n, patch);
    const size_t stored = ZSTD_compress(packed, sizeof packed, columns, n, 1);
    const size_t room = (sizeof block + block.stored_bytes + PT_BLOCK_ALIGN - 1) / PT_BLOCK_ALIGN * PT_BLOCK_ALIGN;
    if (sizeof block + stored > room)
        grow(file, at + room < file->n ? at + room : file->n, sizeof block + stored - room);
    memcpy(file->bytes + payload, packed, stored);
    block.stored_bytes = (pt_u32)stored;
    block.encoded_bytes = (pt_u32)n;
    seal(file, at, &block);
}

static void change_item(struct chain_file *file, const struct chain_patch *patch)
{
    struct items found = {0};
    find(file, patch->part, &found);
    const size_t at = found.n ? found.items[patch->item % found.n] : 0;
    free(found.items);
    if (!at)
        return;
    if (patch->part == CHAIN_SEGMENT)
        change(file->bytes + at, sizeof(struct pt_segment), patch);
    else if (patch->part == CHAIN_AREA)
        change(file->bytes + at, least(sizeof(struct pt_thread_area), file->n - at), patch);
    else if (patch->part == CHAIN_DEF)
        change_definition(file, at, patch);
    else if (patch->part == CHAIN_BLOCK)
        change_block(file, at, patch);
    else
        change_events(file, at, patch);
}

/* From `offset` on, as far as the file goes. */
static void change_range(struct chain_file *file, size_t offset, size_t bytes, const struct chain_patch *patch)
{
    if (offset < file->n && bytes)
        change(file->bytes + offset, least(bytes, file->n - offset), patch);
}

void chain_patch_file(struct chain_file *file, const struct chain_patch *patch)
{
    struct pt_file_header header;
    if (file->n < sizeof header)
        return;
    memcpy(&header, file->bytes, sizeof header);
    const size_t anywhere = (size_t)patch->item << 8;
    switch (patch->part) {
    case CHAIN_HEADER:
        change(file->bytes, PT_HEADER_BYTES, patch);
        break;
    case CHAIN_TEXT:
        change_range(file, header.text_offset, header.text_bytes, patch);
        break;
    case CHAIN_SCHEMA:
        change_range(file, header.schema_offset + (anywhere < header.schema_bytes ? anywhere : 0), 256, patch);
        break;
    case CHAIN_BYTES:
        change_range(file, anywhere % file->n, file->n, patch);
        break;
    case CHAIN_CUT:
        file->n = (anywhere | (patch->at & 255)) % file->n;
        break;
    case CHAIN_SMALL:
        file->is_small = true;
        break;
    default:
        change_item(file, patch);
    }
}

/* ---- heads of small processes ---- */

/* The first records of a file as they lay in the buffer; how many. */
static pt_u32 first_records(const struct chain_file *file, struct pt_record *records, pt_u32 room)
{
    static pt_u8 columns[PT_CODEC_MAX_BYTES + PT_CODEC_SLACK];
    static struct pt_record all[PT_CODEC_MAX_RECORDS];
    static struct pt_codec_words last[256];
    struct items blocks = {0};
    int n = 0;
    find(file, CHAIN_BLOCK, &blocks);
    for (size_t i = 0; i < blocks.n && n <= 0; i++) {
        struct pt_block block;
        memcpy(&block, file->bytes + blocks.items[i], sizeof block);
        if (block.buffer != PT_BUFFER_RECORDS || block.coding != PT_CODING_ZSTD)
            continue;
        const size_t got = ZSTD_decompress(columns, PT_CODEC_MAX_BYTES, file->bytes + blocks.items[i] + sizeof block,
                                           block.stored_bytes);
        n = ZSTD_isError(got) ? 0 : pt_decode_records(columns, got, all, PT_CODEC_MAX_RECORDS, last);
    }
    free(blocks.items);
    const pt_u32 kept = n > 0 ? (pt_u32)least((size_t)n, room) : 0;
    memcpy(records, all, kept * sizeof *records);
    return kept;
}

static size_t copy_part(pt_u8 *head, size_t at, size_t end, const pt_u8 *from, size_t n)
{
    n = least(n, at < end ? end - at : 0);
    memcpy(head + at, from, n);
    return n;
}

void chain_head_of(const struct chain_file *file, pt_u8 head[PT_HEAD_BYTES])
{
    enum { TEXT_AT = PT_HEADER_BYTES, TEXT_ROOM = 512, DEFS_ROOM = 1024, RECORDS = 32 };
    enum { DEFS_AT = TEXT_AT + TEXT_ROOM, RAW_AT = DEFS_AT + DEFS_ROOM, AREA_AT = PT_HEAD_AREA_AT };
    _Static_assert(RAW_AT + RECORDS * sizeof(struct pt_record) <= AREA_AT, "all of it fits");
    struct pt_file_header header;
    struct pt_thread_area area = {0};
    struct items found = {0};
    memset(head, 0, PT_HEAD_BYTES);
    memcpy(&header, file->bytes, sizeof header);
    find(file, CHAIN_AREA, &found);
    if (found.n)
        memcpy(&area, file->bytes + found.items[0], least(sizeof area, file->n - found.items[0]));
    found.n = 0;
    find(file, CHAIN_DEF, &found);
    const size_t defs =
        found.n ? copy_part(head, DEFS_AT, RAW_AT, file->bytes + found.items[0], file->n - found.items[0]) : 0;
    free(found.items);
    if (header.text_offset < file->n)
        header.text_bytes = (pt_u32)copy_part(head, TEXT_AT, DEFS_AT, file->bytes + header.text_offset,
                                              least(header.text_bytes, file->n - header.text_offset));
    header.text_offset = TEXT_AT;
    header.header_bytes = AREA_AT;
    header.file_bytes = PT_HEAD_BYTES;
    memcpy(head, &header, PT_HEADER_BYTES);
    struct pt_record records[RECORDS] = {{0}};
    first_records(file, records, RECORDS);
    for (pt_u32 i = 0; i < RECORDS; i++)
        if (records[i].tag_kind)
            records[i].stamp = (records[i].stamp & ~(pt_u64)PT_GENERATION_MASK) | 1;
    memcpy(head + RAW_AT, records, sizeof records);
    area.segment.magic = PT_SEGMENT_MAGIC;
    area.segment.type = PT_SEGMENT_THREAD;
    area.segment.bytes = PT_AREA_SMALL_BYTES;
    area.defs_offset = DEFS_AT - AREA_AT;
    area.defs_bytes = (pt_u32)defs;
    area.totals_seq = 0;
    area.raw[PT_BUFFER_HEAP] = (struct pt_raw_buffer){.sequence = 1 << PT_GENERATION_BITS | 1};
    area.raw[PT_BUFFER_RECORDS] = (struct pt_raw_buffer){
        .offset = RAW_AT - AREA_AT, .bytes = sizeof records, .sequence = 1 << PT_GENERATION_BITS | 1};
    memcpy(head + AREA_AT, &area, PT_AREA_SMALL_BYTES);
}
