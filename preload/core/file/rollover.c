/* SPDX-License-Identifier: MIT
 *
 * rollover.c - a full buffer becomes a compressed block: totals, columns, zstd, publish, reset.
 *
 * Entered with all signals blocked, by the thread that owns the buffer (or that takes it over); runs on the private
 * stack. The order of stores is what makes a kill at any instant harmless: block committed -> totals bank switched ->
 * buffer's sequence advanced. Never loses a record without counting it.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "rollover.h"

#include <errno.h>
#include <zstd.h>

#include "proftrace/events.h"
#include "core/kill_point.h"
#include "core/private.h"
#include "core/state.h"
#include "area.h"
#include "checksum.h"
#include "image.h"
#include "image_state.h"
#include "kinds.h"
#include "minutes.h"
#include "presence.h"
#include "ring.h"

#define LEAST_ROOM 1024u
/* What a short-lived thread has left; less than a first compression costs in page faults. */
#define LEAST_TO_COMPRESS 512u

/* ---- totals ---- */

static void add_record(struct pt_totals *totals, const struct pt_record *r)
{
    const struct pt_kind *kind = &pt_kinds[r->tag_kind & 0xff];
    if (!kind->kind_plus_1)
        return;
    struct pt_totals *sum = &totals[kind->kind_plus_1 - 1];
    sum->calls++;
    if (kind->is_span)
        sum->ticks += pt_duration_ticks(r->aux);
    const pt_i64 result = kind->result_bytes == 4 ? (pt_i32)r->words[0] : (pt_i64)r->words[0];
    if (kind->result_bytes && result < 0)
        sum->errors++;
    else if (kind->counts_bytes)
        sum->bytes += (pt_u64)result;
}

static pt_u64 end_of(const struct pt_record *r)
{
    const pt_u64 start = r->stamp >> PT_GENERATION_BITS;
    return pt_kinds[r->tag_kind & 0xff].is_span ? start + pt_duration_ticks(r->aux) : start;
}

/* Write the other bank whole, then switch: a reader finds one bank complete at any instant. */
static void add_totals(struct pt_tracer_thread *t, const struct pt_record *records, pt_u32 slots)
{
    struct pt_thread_area *area = t->area;
    const pt_u64 sequence = t->records.sequence;
    struct pt_totals *next = area->totals[sequence & 1];
    pt_minutes_begin(t);
    __builtin_memcpy(next, area->totals[area->totals_seq & 1], PT_KIND__COUNT * sizeof *next);
    for (pt_u32 i = 0; i < slots; i++) {
        if (!pt_was_encoded(&t->priv->codec, i))
            continue;
        const pt_u64 end = end_of(&records[i]);
        if (end >= t->priv->minutes.until_ticks)
            pt_minutes_pass(t, next, end);
        add_record(next, &records[i]);
    }
    pt_minutes_end(t);
    pt_kill_point("totals");
    __atomic_store_n(&area->totals_seq, sequence, __ATOMIC_RELEASE);
}

/* ---- compression ---- */

/* zstd's fast strategy with a small window. Measured on recorded columns: records lose 2-7 % of size without Huffman
 * coding and take half the time; heap units gain a fifth from it, and a long minimum match spares the search. The
 * static context must fit the worst block, or compress2 fails at run time. */
static ZSTD_CCtx *compressor(struct pt_private *priv, enum pt_buffer_id which)
{
    ZSTD_CCtx *cctx = priv->compressor;
    if (!cctx) {
        cctx = ZSTD_initStaticCCtx(priv->compressor_memory, sizeof priv->compressor_memory);
        if (!cctx)
            return 0;
        ZSTD_CCtx_setParameter(cctx, ZSTD_c_compressionLevel, 1);
        ZSTD_CCtx_setParameter(cctx, ZSTD_c_strategy, ZSTD_fast);
        ZSTD_CCtx_setParameter(cctx, ZSTD_c_windowLog, 14);
        ZSTD_CCtx_setParameter(cctx, ZSTD_c_hashLog, 12);
        ZSTD_CCtx_setParameter(cctx, ZSTD_c_chainLog, 6);
        ZSTD_CCtx_setParameter(cctx, ZSTD_c_contentSizeFlag, 0);
        priv->compressor = cctx;
    }
    const int is_heap = which == PT_BUFFER_HEAP;
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_minMatch, is_heap ? 7 : 5);
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_targetLength, is_heap ? 8 : 2);
    ZSTD_CCtx_setParameter(cctx, ZSTD_c_literalCompressionMode, is_heap ? ZSTD_ps_enable : ZSTD_ps_disable);
    return cctx;
}

/* Payload into `to`; returns its bytes, 0 when it does not fit. */
static pt_u64 write_payload(struct pt_private *priv, enum pt_buffer_id which, const struct pt_encoded *encoded,
                            char *to, pt_u64 room, pt_u8 *ret_coding)
{
    ZSTD_CCtx *cctx = encoded->bytes > LEAST_TO_COMPRESS ? compressor(priv, which) : 0;
    if (cctx) {
        const size_t bytes = ZSTD_compress2(cctx, to, room, priv->codec.output, encoded->bytes);
        if (!ZSTD_isError(bytes)) {
            *ret_coding = PT_CODING_ZSTD;
            return bytes;
        }
    }
    if (encoded->bytes > room)
        return 0;
    if (!cctx && encoded->bytes > LEAST_TO_COMPRESS)
        pt_count_drop(PT_DROP_compress, 1);
    __builtin_memcpy(to, priv->codec.output, encoded->bytes);
    *ret_coding = PT_CODING_COLUMNS;
    return encoded->bytes;
}

/* ---- publish ---- */

struct publish {
    struct pt_tracer_thread *t;
    enum pt_buffer_id which;
    pt_u32 tid;
    pt_u32 slots;
};

static struct pt_buffer *buffer_of(struct pt_tracer_thread *t, enum pt_buffer_id which)
{
    return which == PT_BUFFER_HEAP ? &t->heap : &t->records;
}

static void commit_block(const struct publish *p, const struct pt_encoded *encoded, struct pt_block *block,
                         pt_u64 stored, pt_u8 coding)
{
    struct pt_tracer_thread *t = p->t;
    const struct pt_buffer *buffer = buffer_of(t, p->which);
    const pt_u64 next = (t->chunk_used + sizeof *block + stored + PT_BLOCK_ALIGN - 1) & ~(pt_u64)(PT_BLOCK_ALIGN - 1);
    block->stored_bytes = (pt_u32)stored;
    block->encoded_bytes = encoded->bytes;
    block->events = encoded->events;
    block->coding = coding;
    block->buffer = (pt_u8)p->which;
    block->generation = (pt_u16)buffer->generation;
    block->slot = t->slot;
    block->tid = p->tid;
    block->sequence = buffer->sequence;
    block->first_event = buffer->flushed_events;
    block->first_ticks = encoded->first_ticks;
    block->last_ticks = encoded->last_ticks;
    block->skipped = encoded->skipped;
    block->life = t->area->life;
    block->commit = 0;
    block->crc = 0;
    block->crc = pt_crc(pt_crc(0, block + 1, stored), block, sizeof *block);
    /* In a recycled segment an old block may start exactly behind this one: the walk must stop here. */
    if (next + sizeof *block <= t->chunk->bytes)
        *(volatile pt_u32 *)((char *)t->chunk + next) = 0;
    __atomic_store_n(&block->commit, PT_BLOCK_MAGIC, __ATOMIC_RELEASE);
    t->chunk_used = next;
}

/* Store a block in the current segment, else in the next one. */
static int store_block(const struct publish *p, const struct pt_encoded *encoded)
{
    struct pt_tracer_thread *t = p->t;
    for (int attempt = 0; attempt < 2; attempt++) {
        if ((!t->chunk || attempt) && pt_ring_next(t) < 0)
            return -1;
        if (t->chunk_used + sizeof(struct pt_block) + LEAST_ROOM > t->chunk->bytes)
            continue;
        struct pt_block *block = (struct pt_block *)((char *)t->chunk + t->chunk_used);
        pt_u8 coding = 0;
        const pt_u64 stored = write_payload(t->priv, p->which, encoded, (char *)(block + 1),
                                            t->chunk->bytes - t->chunk_used - sizeof *block, &coding);
        if (stored) {
            commit_block(p, encoded, block, stored, coding);
            return 0;
        }
    }
    return -1;
}

/* Not what goes with calls: that a thread was there, samples, readings of clocks, places. */
static int is_of_program(const struct pt_record *r)
{
    switch (r->tag_kind & 0xff) {
    case PT_EV_thread_start:
    case PT_EV_thread_clock:
    case PT_EV_heap_sample:
    case PT_EV_heap_sample_free:
    case PT_EV_heap_sample_lost:
    case PT_EV_heap_sample_thinned:
    case PT_EV_python_place:
    case PT_EV_python_memory:
    case PT_EV_python_memory_free:
        return 0;
    default:
        return 1;
    }
}

/* A head that is alone has no totals: of what does not fit it, and gets no file, only the number of calls is known.
 * Returns how many slots the totals are to be made from. */
static pt_u32 drop(const struct publish *p, struct pt_encoded *encoded)
{
    if (pt_switches.frozen)
        pt_image->header->growth_errno = ENOSYS; /* readers take it for the sandbox */
    if (pt_has_own_file()) {
        p->t->area->drops[PT_DROP_no_space] += encoded->events;
        return p->slots;
    }
    const struct pt_record *records = (const struct pt_record *)(void *)p->t->records.base;
    for (pt_u32 i = 0; i < p->slots; i++)
        p->t->area->drops[PT_DROP_no_room_for_thread] +=
            pt_was_encoded(&p->t->priv->codec, i) && is_of_program(&records[i]);
    encoded->events = 0;
    return 0;
}

static void publish_on_private_stack(void *argument)
{
    const struct publish *p = argument;
    struct pt_tracer_thread *t = p->t;
    struct pt_buffer *buffer = buffer_of(t, p->which);
    const pt_u32 generation = (pt_u32)buffer->generation;
    struct pt_encoded encoded = {0};
    pt_u32 counted = p->slots;
    if (p->slots) {
        encoded = p->which == PT_BUFFER_HEAP ? pt_encode_units((const struct pt_unit16 *)(void *)buffer->base, p->slots,
                                                               generation, &t->priv->codec)
                                             : pt_encode_records((const struct pt_record *)(void *)buffer->base,
                                                                 p->slots, generation, &t->priv->codec);
        if (encoded.skipped)
            t->area->drops[PT_DROP_in_flight] += encoded.skipped;
        if (encoded.events && store_block(p, &encoded) < 0)
            counted = drop(p, &encoded);
    }
    pt_kill_point("publish");
    pt_image_refresh(); /* before the totals: without a second pair of clocks nobody knows in which minute a call was */
    if (p->which == PT_BUFFER_RECORDS)
        add_totals(t, (const struct pt_record *)(void *)buffer->base, counted);
    if (encoded.last_ticks > t->last_ticks)
        t->last_ticks = encoded.last_ticks;
    buffer->flushed_events += encoded.events;
    t->area->raw[p->which].flushed_events = buffer->flushed_events;
}

/* One store resets the buffer: records of the old generation are no longer there. */
static void reset_buffer(struct pt_tracer_thread *t, enum pt_buffer_id which)
{
    struct pt_buffer *buffer = buffer_of(t, which);
    pt_kill_point("reset");
    buffer->sequence++;
    buffer->generation = (buffer->generation + 1) & PT_GENERATION_MASK;
    if (!buffer->generation)
        buffer->generation = 1;
    char *head = (char *)pt_image->header;
    if (buffer->base == head + PT_FIRST_SMALL_RECORDS_AT && pt_has_own_file())
        pt_first_area_leave_head(t, head);
    __atomic_store_n(&t->area->raw[which].sequence, buffer->sequence << PT_GENERATION_BITS | buffer->generation,
                     __ATOMIC_RELEASE);
    buffer->cursor = buffer->base;
}

static pt_u32 slots_used(const struct pt_buffer *buffer, enum pt_buffer_id which)
{
    const pt_u64 bytes = (pt_u64)((buffer->cursor < buffer->end ? buffer->cursor : buffer->end) - buffer->base);
    return (pt_u32)(bytes / (which == PT_BUFFER_HEAP ? sizeof(struct pt_unit16) : sizeof(struct pt_record)));
}

void pt_rollover(struct pt_tracer_thread *t, enum pt_buffer_id which)
{
    struct publish p = {t, which, t->tid, slots_used(buffer_of(t, which), which)};
    if (!pt_file_is_there(t)) {
        buffer_of(t, which)->cursor = buffer_of(t, which)->base;
        return;
    }
    pt_on_private_stack(t->priv, publish_on_private_stack, &p);
    reset_buffer(t, which);
}

/* Already on a private stack: the new thread's, while the slot's own is free. */
void pt_rollover_dead(struct pt_tracer_thread *t, enum pt_buffer_id which, pt_u32 tid)
{
    struct pt_buffer *buffer = buffer_of(t, which);
    struct publish p = {t, which, tid, slots_used(buffer, which)};
    publish_on_private_stack(&p);
    /* Records of an old generation that the next threads do not overwrite would look valid again when the generation
     * number wraps. Pages that were never written are left alone: touching each costs a page fault. */
    const int is_used_up = buffer->sequence != buffer->clear_sequence || buffer->cursor > buffer->end;
    __builtin_memset(buffer->base, 0, (pt_u64)((is_used_up ? buffer->end : buffer->cursor) - buffer->base));
    reset_buffer(t, which);
    buffer->clear_sequence = buffer->sequence;
}
