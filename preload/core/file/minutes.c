/* SPDX-License-Identifier: MIT
 *
 * minutes.c - the totals of each thread by minute.
 *
 * Entered with signals blocked, on the private stack, by the thread that owns the buffer which is being published (or
 * takes it over). A row is the difference of two states of the totals, so rows need no counting of their own. Where
 * there is no room for a row nothing is lost: the next one covers its time, too. Never recycled; the more of the
 * session's room is used, the more minutes a row covers.
 */
#include "minutes.h"

#include "proftrace/events.h"
#include "core/kill_point.h"
#include "core/options.h"
#include "core/session_page.h"
#include "core/state.h"
#include "checksum.h"
#include "image_state.h"
#include "presence.h"
#include "reserve.h"
#include "space.h"

#define FIRST_BYTES 4096u
#define MOST_BYTES 65536u
#define MOST_LEVEL 10u /* rows of 1024 minutes */

/* ---- minutes and ticks ---- */

/* The line through the header's first and last pair of clocks, seen from the last: what is being published is near it.
 * 24 bits of fraction: 0.1 ms in 10 minutes. */
struct line {
    struct pt_clock_pair last;
    pt_u64 ns_per_counter, counters_per_ns; /* << 24; 0 = there is no second pair yet */
};

static struct line clock_line(void)
{
    const struct pt_file_header *header = pt_image->header;
    struct line line = {.last = header->clock_first};
    if (!header->clock_index)
        return line;
    line.last = header->clock_last[header->clock_index & 1];
    pt_u64 ns = line.last.monotonic_ns - header->clock_first.monotonic_ns;
    pt_u64 counters = line.last.counter - header->clock_first.counter;
    while ((ns | counters) >> 39) {
        ns >>= 1;
        counters >>= 1;
    }
    line.ns_per_counter = counters ? (ns << 24) / counters : 0;
    line.counters_per_ns = ns ? (counters << 24) / ns : 0;
    return line;
}

static pt_i64 times(pt_u64 difference, pt_u64 factor)
{
    return (pt_i64)((__int128)(pt_i64)difference * (pt_i64)factor >> 24);
}

static pt_u64 minute_of(const struct line *line, const struct pt_tracer_thread *t, pt_u64 ticks)
{
    const pt_u64 counter = t->clock_base + (ticks << pt_switches.clock_shift);
    const pt_u64 ns = line->last.monotonic_ns + (pt_u64)times(counter - line->last.counter, line->ns_per_counter);
    return ns / pt_image->header->minute_ns;
}

static pt_u64 ticks_at(const struct line *line, const struct pt_tracer_thread *t, pt_u64 minute)
{
    const pt_u64 ns = minute * pt_image->header->minute_ns;
    const pt_u64 counter = line->last.counter + (pt_u64)times(ns - line->last.monotonic_ns, line->counters_per_ns);
    return pt_ticks_since(t->clock_base, counter);
}

/* ---- room ---- */

/* So that the session's room is never used up, each half of what is left holds twice as many minutes as the one before.
 * 0 = a row a minute. */
static pt_u32 level_of(pt_u64 used_bytes)
{
    const pt_u64 limit = pt_options.minutes_mib << 20;
    pt_u32 level = 0;
    for (pt_u64 left = limit > used_bytes ? limit - used_bytes : 0; level < MOST_LEVEL && left < limit >> (level + 1);)
        level++;
    return level;
}

static int next_segment(struct pt_tracer_thread *t, struct pt_minutes *minutes)
{
    const pt_u64 before = minutes->segment ? minutes->segment->bytes : 0;
    const pt_u64 bytes = !before ? FIRST_BYTES : before < MOST_BYTES ? before * 2 : MOST_BYTES;
    pt_u64 used = 0;
    if (!pt_has_own_file() || pt_space_is_refused(bytes) ||
        pt_session_take_minutes(bytes, pt_options.minutes_mib << 20, &used) < 0)
        return -1;
    minutes->level = level_of(used);
    struct pt_segment *segment = pt_space_grow(bytes, bytes).map;
    if (!segment) {
        pt_session_give_back_minutes(bytes);
        return -1;
    }
    pt_space_leave_to_none(segment, bytes);
    segment->type = PT_SEGMENT_MINUTES;
    segment->bytes = bytes;
    segment->slot = t->slot;
    __atomic_store_n(&segment->magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    if (minutes->segment)
        pt_reserve_unmap(minutes->segment, before);
    minutes->segment = segment;
    minutes->used = sizeof *segment;
    return 0;
}

/* ---- rows ---- */

/* In the encoder's memory, which is free once the block is stored. */
struct row {
    pt_u8 *payload;
    pt_u32 bytes;
};

static void put(struct row *row, pt_u64 value)
{
    for (; value >= 0x80; value >>= 7)
        row->payload[row->bytes++] = (pt_u8)(value | 0x80);
    row->payload[row->bytes++] = (pt_u8)value;
}

static struct row begin_row(const struct pt_tracer_thread *t, pt_u64 first, pt_u64 n)
{
    struct row row = {t->priv->codec.output, 0};
    put(&row, first);
    put(&row, n);
    put(&row, t->records.sequence);
    return row;
}

static int commit_row(struct pt_tracer_thread *t, const struct row *row)
{
    struct pt_minutes *minutes = &t->priv->minutes;
    const pt_u32 bytes = ((pt_u32)sizeof(struct pt_minutes_row) + row->bytes + 7) & ~7u;
    if ((!minutes->segment || minutes->used + bytes > minutes->segment->bytes) && next_segment(t, minutes) < 0)
        return -1;
    if (!pt_is_mapped_and_there(minutes->segment, minutes->used + bytes))
        return -1;
    struct pt_minutes_row *to = (struct pt_minutes_row *)(void *)((char *)minutes->segment + minutes->used);
    to->payload_bytes = row->bytes;
    __builtin_memcpy(to + 1, row->payload, row->bytes);
    to->crc = pt_crc(0, &to->payload_bytes, sizeof to->payload_bytes + row->bytes);
    pt_kill_point("minutes");
    __atomic_store_n(&to->commit, PT_MINUTES_MAGIC | bytes << 16, __ATOMIC_RELEASE);
    minutes->used += bytes;
    return 0;
}

static void put_kind(struct row *row, pt_u32 distance, const struct pt_totals *now, const struct pt_totals *base)
{
    const pt_u64 errors = now->errors - base->errors, bytes = now->bytes - base->bytes;
    put(row, distance);
    put(row, (now->calls - base->calls) << 2 | (bytes != 0) << 1 | (errors != 0));
    if (errors)
        put(row, errors);
    if (bytes)
        put(row, bytes);
    put(row, now->ticks - base->ticks);
}

#define LONGEST_KIND 48u /* bytes */

/* One row of the kinds from `kind` on that have grown; the first kind that did not fit, or -1: no room. */
static int write_kinds(struct pt_tracer_thread *t, const struct pt_totals *totals, pt_u64 n, pt_u32 kind)
{
    struct pt_minutes *minutes = &t->priv->minutes;
    struct row row = begin_row(t, minutes->from, n);
    const pt_u32 first = kind;
    pt_u32 last_plus_1 = 0, grown = 0;
    for (; kind < PT_KIND__COUNT && row.bytes + LONGEST_KIND < PT_MINUTES_ROW_BYTES; kind++) {
        if (totals[kind].calls == minutes->base[kind].calls)
            continue;
        put_kind(&row, kind + 1 - last_plus_1, &totals[kind], &minutes->base[kind]);
        last_plus_1 = kind + 1;
        grown++;
    }
    if (grown && commit_row(t, &row) < 0)
        return -1;
    __builtin_memcpy(&minutes->base[first], &totals[first], (kind - first) * sizeof *totals);
    return (int)kind;
}

static int write_open_minute(struct pt_tracer_thread *t, const struct pt_totals *totals)
{
    const struct pt_minutes *minutes = &t->priv->minutes;
    for (int kind = 0; kind < PT_KIND__COUNT;) {
        kind = write_kinds(t, totals, minutes->until - minutes->from, (pt_u32)kind);
        if (kind < 0)
            return -1;
    }
    return 0;
}

void pt_minutes_begin(struct pt_tracer_thread *t)
{
    struct pt_minutes *minutes = &t->priv->minutes;
    const struct line line = clock_line();
    if (minutes->until && line.counters_per_ns)
        minutes->until_ticks = ticks_at(&line, t, minutes->until);
}

void pt_minutes_pass(struct pt_tracer_thread *t, const struct pt_totals *totals, pt_u64 end_ticks)
{
    struct pt_minutes *minutes = &t->priv->minutes;
    if (!pt_image->header->minute_ns) {
        minutes->until_ticks = ~0ull;
        return;
    }
    const struct line line = clock_line();
    if (!line.ns_per_counter)
        return;
    const pt_u64 now = minute_of(&line, t, end_ticks);
    if (!minutes->until)
        minutes->from = minutes->counters_from = now;
    else if (now >= minutes->until && write_open_minute(t, totals) == 0)
        minutes->from = now;
    if (now >= minutes->until)
        minutes->until = ((now >> minutes->level) + 1) << minutes->level;
    minutes->until_ticks = ticks_at(&line, t, minutes->until);
}

/* ---- what is counted without events ---- */

static void read_counters(const struct pt_thread_area *area, pt_u64 *to)
{
    __builtin_memset(to, 0, PT_MINUTES_N_COUNTERS * sizeof *to);
    for (pt_u32 i = 0; i < PT_HEAP_CLASSES; i++) {
        const pt_u64 packed = __atomic_load_n(&area->heap_packed[i], __ATOMIC_RELAXED);
        to[0] += area->heap_spilled[i].count + (packed >> 40);
        to[1] += area->heap_spilled[i].bytes + (packed & ((1ull << 40) - 1));
    }
    const pt_u64 *more = area->came_between;
    to[2] = area->heap_frees + more[0];
    for (pt_u32 i = 0; i < PT_COUNTED_ROWS; i++) {
        to[3 + 2 * i] = area->counted_calls[i] + more[2 + i];
        to[4 + 2 * i] = area->counted_bytes[i] + more[6 + i];
    }
}

void pt_minutes_end(struct pt_tracer_thread *t)
{
    struct pt_minutes *minutes = &t->priv->minutes;
    const pt_u64 now = minutes->from;
    pt_u64 counters[PT_MINUTES_N_COUNTERS], grown = 0;
    if (now <= minutes->counters_from)
        return;
    read_counters(t->area, counters);
    struct row row = begin_row(t, minutes->counters_from, now - minutes->counters_from);
    put(&row, PT_MINUTES_COUNTERS);
    for (pt_u32 i = 0; i < PT_MINUTES_N_COUNTERS; i++) {
        grown |= counters[i] - minutes->counters[i];
        put(&row, counters[i] - minutes->counters[i]);
    }
    if (grown && commit_row(t, &row) < 0)
        return;
    __builtin_memcpy(minutes->counters, counters, sizeof counters);
    minutes->counters_from = now;
}
