/* SPDX-License-Identifier: MIT
 *
 * minutes.c - Owns: the form of totals by minute in a file. Threads: any, each with its own context. Never: trusts a
 * number; keeps a segment in memory.
 */
#include "minutes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"

enum { MOST_BYTES = 1 << 20 }; /* of a segment */

struct bytes {
    const pt_u8 *at, *end;
    bool is_bad;
};

static pt_u64 take(struct bytes *from)
{
    pt_u64 value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (from->at == from->end)
            break;
        const pt_u8 byte = *from->at++;
        value |= (pt_u64)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    from->is_bad = true;
    return 0;
}

static void take_counters(struct bytes *from, struct pt_minutes_entry *entry)
{
    entry->has_counters = true;
    entry->allocs = take(from);
    entry->bytes = take(from);
    entry->frees = take(from);
    for (pt_u32 i = 0; i < PT_COUNTED_ROWS; i++) {
        entry->counted_calls[i] = take(from);
        entry->counted_bytes[i] = take(from);
    }
}

static void take_kinds(struct bytes *from, pt_u64 distance, struct pt_minutes_entry *entry)
{
    pt_u64 row = 0; /* plus 1 */
    for (;; distance = take(from)) {
        row += distance < PT_TOTALS_ROWS ? distance : PT_TOTALS_ROWS;
        if (!distance || row > PT_TOTALS_ROWS || entry->n_kinds == PT_TOTALS_ROWS)
            from->is_bad = true;
        if (from->is_bad)
            return;
        struct pt_minutes_kind *kind = &entry->kinds[entry->n_kinds++];
        *kind = (struct pt_minutes_kind){.row = (pt_u32)row - 1};
        const pt_u64 calls = take(from);
        kind->totals.calls = calls >> 2;
        kind->totals.errors = calls & 1 ? take(from) : 0;
        kind->totals.bytes = calls & 2 ? take(from) : 0;
        kind->totals.ticks = take(from);
        if (from->at == from->end)
            return;
    }
}

/* ---- writing ---- */

static void put(struct pt_str *out, pt_u64 value)
{
    for (; value >= 0x80; value >>= 7)
        pt_str_char(out, (char)(value | 0x80));
    pt_str_char(out, (char)value);
}

static void put_kinds(struct pt_str *out, const struct pt_minutes_entry *entry)
{
    pt_u32 last_plus_1 = 0;
    for (pt_u32 i = 0; i < entry->n_kinds; i++) {
        const struct pt_totals *t = &entry->kinds[i].totals;
        put(out, entry->kinds[i].row + 1 - last_plus_1);
        last_plus_1 = entry->kinds[i].row + 1;
        put(out, t->calls << 2 | (t->bytes != 0) << 1 | (t->errors != 0));
        if (t->errors)
            put(out, t->errors);
        if (t->bytes)
            put(out, t->bytes);
        put(out, t->ticks);
    }
}

static void put_counters(struct pt_str *out, const struct pt_minutes_entry *entry)
{
    put(out, PT_MINUTES_COUNTERS);
    put(out, entry->allocs);
    put(out, entry->bytes);
    put(out, entry->frees);
    for (pt_u32 i = 0; i < PT_COUNTED_ROWS; i++) {
        put(out, entry->counted_calls[i]);
        put(out, entry->counted_bytes[i]);
    }
}

void pt_minutes_append(struct pt_str *out, const struct pt_minutes_entry *entry)
{
    PT_AUTO(pt_str_fini) struct pt_str row = {0};
    struct pt_minutes_row head = {0};
    pt_str_bytes(&row, (const char *)&head, sizeof head);
    put(&row, entry->first);
    put(&row, entry->n);
    put(&row, entry->sequence);
    if (entry->has_counters)
        put_counters(&row, entry);
    else
        put_kinds(&row, entry);
    const size_t skipped = offsetof(struct pt_minutes_row, payload_bytes);
    head.payload_bytes = (pt_u32)(row.n - sizeof head);
    memcpy(row.text, &head, sizeof head);
    head.crc = pt_crc32c(0, row.text + skipped, row.n - skipped);
    while (row.n % 8)
        pt_str_char(&row, 0);
    head.commit = PT_MINUTES_MAGIC | (pt_u32)row.n << 16;
    memcpy(row.text, &head, sizeof head);
    pt_str_bytes(out, row.text, row.n);
}

/* ---- reading ---- */

static bool read_entry(const pt_u8 *payload, pt_u32 bytes, struct pt_minutes_entry *entry)
{
    struct bytes from = {payload, payload + bytes, false};
    entry->n_kinds = 0;
    entry->has_counters = false;
    entry->first = take(&from);
    entry->n = take(&from);
    entry->sequence = take(&from);
    const pt_u64 distance = take(&from);
    if (distance == PT_MINUTES_COUNTERS)
        take_counters(&from, entry);
    else
        take_kinds(&from, distance, entry);
    return !from.is_bad && entry->n;
}

/* The length of the row at `at`, 0 = none is there. */
static pt_u64 check_row(const pt_u8 *at, pt_u64 left, struct pt_minutes_row *ret_row)
{
    if (left < sizeof *ret_row)
        return 0;
    memcpy(ret_row, at, sizeof *ret_row);
    const pt_u64 bytes = ret_row->commit >> 16;
    if ((ret_row->commit & 0xffff) != PT_MINUTES_MAGIC || bytes > left || bytes < sizeof *ret_row || bytes % 8 ||
        ret_row->payload_bytes > bytes - sizeof *ret_row)
        return 0;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    const size_t head = offsetof(struct pt_minutes_row, payload_bytes);
    if (pt_crc32c(0, at + head, sizeof *ret_row - head + ret_row->payload_bytes) != ret_row->crc)
        return 0;
#endif
    return bytes;
}

void pt_minutes_for_each(const struct pt_trace_file *file, const struct pt_minutes_segment *segment,
                         void (*take_entry)(void *context, const struct pt_minutes_entry *entry), void *context)
{
    const pt_u64 bytes = segment->bytes < MOST_BYTES ? segment->bytes : MOST_BYTES;
    pt_u8 *content = pt_malloc(bytes);
    struct pt_minutes_entry *entry = pt_malloc(sizeof *entry);
    const pt_u64 got = pt_trace_file_read(file, segment->offset, content, bytes);
    for (pt_u64 at = sizeof(struct pt_segment); at < got;) {
        struct pt_minutes_row row;
        const pt_u64 length = check_row(content + at, got - at, &row);
        if (!length)
            break;
        if (read_entry(content + at + sizeof row, row.payload_bytes, entry))
            take_entry(context, entry);
        at += length;
    }
    free(entry);
    free(content);
}
