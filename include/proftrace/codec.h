/* SPDX-License-Identifier: MIT
 *
 * codec.h - columns: how a full buffer is laid out before zstd sees it, and back.
 *
 * Shared by the library (encode, on its private stack, no allocation), `assemble` (encode) and the analyzer (decode).
 * One pass, branchless 8-byte stores: 6-7 ns per unit. Match search finds little in these columns; entropy coding of
 * the length bytes and of small deltas is the gain (decision 0009).
 *
 *   units:    header, control[n], addresses, sizes
 *             control = kind (3 bits) | address bytes (3) | log2 of size bytes (2)
 *             address: zigzag difference to the one before, >> shift; clock unit: its ticks likewise
 *   records:  header, kind[n], lengths_a[n], lengths_b[n], ticks, aux, tag, word 0, word 1
 *             lengths_a = ticks bytes (3 bits) | aux bytes (3) | tag bytes (2);  lengths_b = word 0 bytes (4) | word 1
 * bytes (4) ticks: zigzag difference to the record before; tag: xor with it; words: zigzag difference to the last
 *             record of the same kind
 *
 * Decoders trust nothing: they return -1 on any input that does not fit exactly.
 */
#ifndef PROFTRACE_CODEC_H
#define PROFTRACE_CODEC_H

#include "events.h"
#include "format.h"

#define PT_CODEC_MAX_UNITS 4096u
#define PT_CODEC_MAX_RECORDS 1024u
#define PT_CODEC_SLACK 8u /* stores and loads are 8 bytes wide */

struct pt_unit_columns {
    pt_u32 count;
    pt_u32 shift;
    pt_u32 address_bytes;
    pt_u32 size_bytes;
};

struct pt_record_columns {
    pt_u32 count;
    pt_u8 shift[4];  /* of word 0 and word 1: trailing zero bits that all have; two unused */
    pt_u32 bytes[5]; /* ticks, aux, tag, word 0, word 1 */
};

/* Largest encodings; an output buffer of PT_CODEC_MAX_BYTES fits any block. */
#define PT_CODEC_UNITS_BYTES (sizeof(struct pt_unit_columns) + PT_CODEC_MAX_UNITS * (1u + 7u + 8u))
#define PT_CODEC_RECORDS_BYTES (sizeof(struct pt_record_columns) + PT_CODEC_MAX_RECORDS * (3u + 7u + 4u + 3u + 8u + 8u))
_Static_assert(PT_CODEC_RECORDS_BYTES <= PT_CODEC_UNITS_BYTES, "a block of units is the largest");
#define PT_CODEC_MAX_BYTES (PT_CODEC_UNITS_BYTES + 5u * PT_CODEC_SLACK)

struct pt_codec_words {
    pt_u64 words[2];
};

/* Caller-owned working memory of an encoder or decoder: too big for a host's stack. */
struct pt_codec_scratch {
    pt_u8 output[PT_CODEC_MAX_BYTES];
    pt_u8 columns[PT_CODEC_MAX_UNITS * 8 + 5 * PT_CODEC_SLACK]; /* columns that are not yet at their place */
    struct pt_codec_words last[256];                            /* by kind */
    pt_u64 skipped[PT_CODEC_MAX_RECORDS / 64];                  /* a bit per record that the encoder left out */
};

static inline pt_u64 pt_zigzag(pt_i64 value)
{
    return (pt_u64)value << 1 ^ (pt_u64)(value >> 63);
}

static inline pt_i64 pt_unzigzag(pt_u64 value)
{
    return (pt_i64)(value >> 1 ^ -(value & 1));
}

/* Bytes that hold a value: 0 for 0, 8 at most. */
static inline pt_u32 pt_byte_count(pt_u64 value)
{
    return value ? (pt_u32)(71 - __builtin_clzll(value)) >> 3 : 0;
}

static inline int pt_unit_has_size(pt_u32 kind)
{
    return kind == PT_EV_heap_malloc || kind == PT_EV_heap_calloc || kind == PT_EV_heap_realloc ||
           kind == PT_EV_heap_memalign;
}

/* ---- encode ---- */

/* What an encoder found on its way, for the block header and the totals. */
struct pt_encoded {
    pt_u32 bytes;   /* in scratch->output */
    pt_u32 events;  /* clock units not counted */
    pt_u32 skipped; /* slots of another generation */
    pt_u64 first_ticks;
    pt_u64 last_ticks;
};

/* Encode `slots` units (<= PT_CODEC_MAX_UNITS) of one generation into scratch->output. */
static inline struct pt_encoded pt_encode_units(const struct pt_unit16 *units, pt_u32 slots, pt_u32 generation,
                                                struct pt_codec_scratch *scratch)
{
    struct pt_encoded out = {.first_ticks = ~0ull};
    pt_u64 all = 0;
    for (pt_u32 i = 0; i < slots; i++)
        if ((units[i].head >> PT_GENERATION_BITS & 15) != PT_UNIT_CLOCK)
            all |= units[i].head >> 16;
    const pt_u32 shift = all & 15 ? 0 : 4;
    struct pt_unit_columns *header = (struct pt_unit_columns *)(void *)scratch->output;
    pt_u8 *control = scratch->output + sizeof *header;
    pt_u8 *address = control + slots, *size = scratch->columns;
    pt_u64 last_address = 0, last_clock = 0;
    pt_u32 count = 0;
    for (pt_u32 i = 0; i < slots; i++) {
        const pt_u64 head = units[i].head, body = units[i].body;
        const pt_u32 kind = head >> PT_GENERATION_BITS & 15;
        if (__builtin_expect((head & PT_GENERATION_MASK) != generation || !kind || kind > 7, 0)) {
            out.skipped++;
            continue;
        }
        pt_u64 value;
        pt_u32 size_log2 = 0;
        if (kind == PT_UNIT_CLOCK) {
            value = pt_zigzag((pt_i64)(body - last_clock));
            last_clock = body;
            out.first_ticks = body < out.first_ticks ? body : out.first_ticks;
            out.last_ticks = body > out.last_ticks ? body : out.last_ticks;
        } else {
            value = pt_zigzag((pt_i64)((head >> 16) - last_address) >> shift);
            last_address = head >> 16;
            out.events++;
            if (pt_unit_has_size(kind)) {
                const pt_u32 bytes = pt_byte_count(body | 1);
                size_log2 = bytes <= 1 ? 0 : (pt_u32)(32 - __builtin_clz(bytes - 1));
                __builtin_memcpy(size, &body, 8);
                size += 1u << size_log2;
            }
        }
        const pt_u32 bytes = pt_byte_count(value);
        __builtin_memcpy(address, &value, 8);
        address += bytes;
        control[count++] = (pt_u8)(kind | bytes << 3 | size_log2 << 6);
    }
    pt_u8 *const addresses = control + slots;
    header->count = count;
    header->shift = shift;
    header->address_bytes = (pt_u32)(address - addresses);
    header->size_bytes = (pt_u32)(size - scratch->columns);
    if (count < slots)
        __builtin_memmove(control + count, addresses, header->address_bytes);
    __builtin_memcpy(control + count + header->address_bytes, scratch->columns, header->size_bytes);
    out.bytes = (pt_u32)sizeof *header + count + header->address_bytes + header->size_bytes;
    if (out.first_ticks == ~0ull)
        out.first_ticks = 0;
    return out;
}

/* Trailing zero bits that a word has in all records: of both words in one pass, which is a tenth of the encoding. */
static inline void pt_common_shifts(const struct pt_record *records, pt_u32 slots, pt_u32 generation,
                                    pt_u32 ret_shifts[2])
{
    pt_u64 all[2] = {0};
    for (pt_u32 i = 0; i < slots; i++) {
        const pt_u64 mask = (records[i].stamp & PT_GENERATION_MASK) == generation ? ~0ull : 0;
        all[0] |= records[i].words[0] & mask;
        all[1] |= records[i].words[1] & mask;
    }
    for (int word = 0; word < 2; word++)
        ret_shifts[word] = all[word] ? (pt_u32)__builtin_ctzll(all[word]) : 0;
}

/* Did the encoder take this record? Not to be asked of the record itself: a raw clone() that shares the buffer may
 * commit it, or overwrite it, after the encoder passed; then totals and block would not agree. */
static inline int pt_was_encoded(const struct pt_codec_scratch *scratch, pt_u32 record)
{
    return !(scratch->skipped[record / 64] >> record % 64 & 1);
}

/* Encode `slots` records (<= PT_CODEC_MAX_RECORDS) of one generation into scratch->output. */
static inline struct pt_encoded pt_encode_records(const struct pt_record *records, pt_u32 slots, pt_u32 generation,
                                                  struct pt_codec_scratch *scratch)
{
    struct pt_encoded out = {.first_ticks = ~0ull};
    struct pt_record_columns *header = (struct pt_record_columns *)(void *)scratch->output;
    pt_u8 *const kinds = scratch->output + sizeof *header;
    /* Every column has room for its worst case, so no store needs a check. */
    pt_u8 *const ticks0 = scratch->columns, *const aux0 = ticks0 + slots * 7 + PT_CODEC_SLACK,
                 *const tag0 = aux0 + slots * 4 + PT_CODEC_SLACK, *const word0 = tag0 + slots * 3 + PT_CODEC_SLACK,
                 *const word1 = scratch->output + sizeof *header + slots * 3;
    pt_u8 *const lengths_a = kinds + slots, *const lengths_b = lengths_a + slots;
    pt_u8 *ticks_at = ticks0, *aux_at = aux0, *tag_at = tag0, *word0_at = word0, *word1_at = word1;
    pt_u64 last_ticks = 0;
    pt_u32 last_tag = 0, count = 0;
    pt_u32 shifts[2];
    pt_common_shifts(records, slots, generation, shifts);
    const pt_u32 shift0 = shifts[0], shift1 = shifts[1];
    __builtin_memset(scratch->last, 0, sizeof scratch->last);
    __builtin_memset(scratch->skipped, 0, sizeof scratch->skipped);
    for (pt_u32 i = 0; i < slots; i++) {
        const struct pt_record *r = &records[i];
        if (__builtin_expect((r->stamp & PT_GENERATION_MASK) != generation || !(r->tag_kind & 0xff), 0)) {
            scratch->skipped[i / 64] |= 1ull << i % 64;
            out.skipped++;
            continue;
        }
        struct pt_codec_words *last = &scratch->last[r->tag_kind & 0xff];
        const pt_u64 now = r->stamp >> PT_GENERATION_BITS;
        const pt_u32 tag = r->tag_kind >> 8;
        const pt_u64 ticks = pt_zigzag((pt_i64)(now - last_ticks)) & ((1ull << 56) - 1), aux = r->aux,
                     tags = tag ^ last_tag;
        const pt_u64 a = pt_zigzag((pt_i64)((r->words[0] >> shift0) - last->words[0])),
                     b = pt_zigzag((pt_i64)((r->words[1] >> shift1) - last->words[1]));
        const pt_u32 nt = pt_byte_count(ticks), nx = pt_byte_count(aux), ng = pt_byte_count(tags),
                     na = pt_byte_count(a), nb = pt_byte_count(b);
        last_ticks = now;
        last_tag = tag;
        last->words[0] = r->words[0] >> shift0;
        last->words[1] = r->words[1] >> shift1;
        __builtin_memcpy(ticks_at, &ticks, 8);
        __builtin_memcpy(aux_at, &aux, 8);
        __builtin_memcpy(tag_at, &tags, 8);
        __builtin_memcpy(word0_at, &a, 8);
        __builtin_memcpy(word1_at, &b, 8);
        ticks_at += nt;
        aux_at += nx;
        tag_at += ng;
        word0_at += na;
        word1_at += nb;
        kinds[count] = (pt_u8)r->tag_kind;
        lengths_a[count] = (pt_u8)(nt | nx << 3 | ng << 6);
        lengths_b[count] = (pt_u8)(na | nb << 4);
        count++;
        out.first_ticks = now < out.first_ticks ? now : out.first_ticks;
        out.last_ticks = now > out.last_ticks ? now : out.last_ticks;
    }
    const pt_u32 word1_bytes = (pt_u32)(word1_at - word1);
    header->count = count;
    header->shift[0] = (pt_u8)shift0;
    header->shift[1] = (pt_u8)shift1;
    header->shift[2] = header->shift[3] = 0;
    header->bytes[0] = (pt_u32)(ticks_at - ticks0);
    header->bytes[1] = (pt_u32)(aux_at - aux0);
    header->bytes[2] = (pt_u32)(tag_at - tag0);
    header->bytes[3] = (pt_u32)(word0_at - word0);
    header->bytes[4] = word1_bytes;
    const pt_u32 before = header->bytes[0] + header->bytes[1] + header->bytes[2] + header->bytes[3];
    /* Close the gaps: lengths, then word 1 to its place at the end, then the other columns before it. */
    __builtin_memmove(kinds + count, lengths_a, count);
    __builtin_memmove(kinds + 2 * count, lengths_b, count);
    pt_u8 *at = kinds + 3 * count;
    __builtin_memmove(at + before, word1, word1_bytes);
    const pt_u8 *const from[4] = {ticks0, aux0, tag0, word0};
    for (int column = 0; column < 4; column++) {
        __builtin_memcpy(at, from[column], header->bytes[column]);
        at += header->bytes[column];
    }
    out.events = count;
    out.bytes = (pt_u32)(at - scratch->output) + word1_bytes;
    if (out.first_ticks == ~0ull)
        out.first_ticks = 0;
    return out;
}

/* ---- decode ---- */

/* Load `bytes` (0..8) little-endian bytes; 8 readable bytes must follow `from`. */
static inline pt_u64 pt_load_bytes(const pt_u8 *from, pt_u32 bytes)
{
    pt_u64 value;
    __builtin_memcpy(&value, from, 8);
    return bytes >= 8 ? value : value & ((1ull << (8 * bytes)) - 1);
}

/* Decode columns of units. `encoded` must be followed by PT_CODEC_SLACK readable bytes. Fills `units` (room for `room`)
 * with generation 0. Returns the number of units, clock units included, or -1 when the input is malformed. */
static inline int pt_decode_units(const pt_u8 *encoded, pt_u64 bytes, struct pt_unit16 *units, pt_u32 room)
{
    struct pt_unit_columns header;
    if (bytes < sizeof header)
        return -1;
    __builtin_memcpy(&header, encoded, sizeof header);
    if (header.count > room || header.shift > 4 ||
        bytes != sizeof header + (pt_u64)header.count + header.address_bytes + header.size_bytes)
        return -1;
    const pt_u8 *control = encoded + sizeof header,
                *address = control + header.count, *const address_end = address + header.address_bytes,
                *size = address_end, *const size_end = size + header.size_bytes;
    pt_u64 last_address = 0, last_clock = 0;
    for (pt_u32 i = 0; i < header.count; i++) {
        const pt_u32 kind = control[i] & 7, n = control[i] >> 3 & 7;
        if (!kind || address + n > address_end)
            return -1;
        const pt_u64 delta = (pt_u64)pt_unzigzag(pt_load_bytes(address, n));
        address += n;
        if (kind == PT_UNIT_CLOCK) {
            last_clock += delta;
            units[i] = (struct pt_unit16){(pt_u64)kind << PT_GENERATION_BITS, last_clock};
            continue;
        }
        last_address = (last_address + (delta << header.shift)) & ((1ull << 48) - 1);
        pt_u64 body = 0;
        if (pt_unit_has_size(kind)) {
            const pt_u32 m = 1u << (control[i] >> 6);
            if (size + m > size_end)
                return -1;
            body = pt_load_bytes(size, m);
            size += m;
        }
        units[i] = (struct pt_unit16){last_address << 16 | (pt_u64)kind << PT_GENERATION_BITS, body};
    }
    return address == address_end && size == size_end ? (int)header.count : -1;
}

/* Decode columns of records; like pt_decode_units. `last` is caller's working memory (256 entries). */
static inline int pt_decode_records(const pt_u8 *encoded, pt_u64 bytes, struct pt_record *records, pt_u32 room,
                                    struct pt_codec_words *last)
{
    struct pt_record_columns header;
    if (bytes < sizeof header)
        return -1;
    __builtin_memcpy(&header, encoded, sizeof header);
    pt_u64 want = sizeof header + 3ull * header.count;
    for (int column = 0; column < 5; column++)
        want += header.bytes[column];
    if (header.count > room || bytes != want || header.shift[0] > 63 || header.shift[1] > 63)
        return -1;
    const pt_u8 *const kinds = encoded + sizeof header, *const lengths_a = kinds + header.count,
                       *const lengths_b = lengths_a + header.count;
    const pt_u8 *at[5], *end[5], *column_at = lengths_b + header.count;
    for (int column = 0; column < 5; column++) {
        at[column] = column_at;
        end[column] = column_at += header.bytes[column];
    }
    __builtin_memset(last, 0, 256 * sizeof *last);
    pt_u64 ticks = 0;
    pt_u32 tag = 0;
    for (pt_u32 i = 0; i < header.count; i++) {
        const pt_u32 n[5] = {lengths_a[i] & 7u, lengths_a[i] >> 3 & 7u, lengths_a[i] >> 6, lengths_b[i] & 15u,
                             lengths_b[i] >> 4u};
        pt_u64 value[5];
        for (int column = 0; column < 5; column++) {
            if (n[column] > 8 || at[column] + n[column] > end[column])
                return -1;
            value[column] = pt_load_bytes(at[column], n[column]);
            at[column] += n[column];
        }
        struct pt_codec_words *w = &last[kinds[i]];
        ticks = (ticks + (pt_u64)pt_unzigzag(value[0])) & ((1ull << PT_TIME_BITS) - 1);
        tag = (tag ^ (pt_u32)value[2]) & 0xffffff;
        w->words[0] += (pt_u64)pt_unzigzag(value[3]);
        w->words[1] += (pt_u64)pt_unzigzag(value[4]);
        records[i].stamp = ticks << PT_GENERATION_BITS;
        records[i].aux = (pt_u32)value[1];
        records[i].tag_kind = tag << 8 | kinds[i];
        records[i].words[0] = w->words[0] << header.shift[0];
        records[i].words[1] = w->words[1] << header.shift[1];
    }
    for (int column = 0; column < 5; column++)
        if (at[column] != end[column])
            return -1;
    return (int)header.count;
}

#endif
