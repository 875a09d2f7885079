/* SPDX-License-Identifier: MIT
 *
 * decode.h - one block, or one raw buffer, to events on the session's clock, in the order of their ends.
 */
#ifndef PT_DECODE_DECODE_H
#define PT_DECODE_DECODE_H

#include "source/block.h"
#include "schema_table.h"

/* ticks -> ns since the session's start: offset + ticks * mult / 2^PT_SCALE_BITS. */
#define PT_SCALE_BITS 40
#define PT_TIME_LIMIT_NS (1ll << 60) /* a time beyond it is damage; sums of a few stay inside 63 bits */

struct pt_clock_scale {
    pt_i64 offset_ns; /* within +-PT_TIME_LIMIT_NS */
    pt_u64 mult;
};

static inline pt_i64 pt_scale_duration(const struct pt_clock_scale *scale, pt_u64 ticks)
{
    const unsigned __int128 ns = (unsigned __int128)ticks * scale->mult >> PT_SCALE_BITS;
    return ns < PT_TIME_LIMIT_NS ? (pt_i64)ns : PT_TIME_LIMIT_NS;
}

static inline pt_i64 pt_scale_time(const struct pt_clock_scale *scale, pt_u64 ticks)
{
    return scale->offset_ns + pt_scale_duration(scale, ticks);
}

/* A duration rounded to what 32 bits can hold, so that dump, assemble and dump again give the same. */
static inline pt_i64 pt_round_duration(pt_i64 ns)
{
    return ns < 1 << 27 ? ns : (pt_i64)pt_duration_ticks(pt_duration_pack((pt_u64)ns));
}

/* A decoded event, without the fields that are the same for the whole batch. */
struct pt_item {
    pt_i64 end_ns, duration_ns;
    pt_u32 aux;
    pt_u32 tag_kind;
    pt_u64 words[2];
};

struct pt_batch {
    pt_u32 n;
    struct pt_item items[PT_BLOCK_MAX_EVENTS];
};

/* Working memory of one thread. */
struct pt_decoder;
struct pt_decoder *pt_decoder_new(void);
void pt_decoder_free(struct pt_decoder *decoder);

/* The blocks of one buffer of a slot, and what is needed to understand them. */
struct pt_decode_source {
    const struct pt_trace_file *file;
    const struct pt_schema *schema;
    const struct pt_clock_scale *scale;
    const struct pt_slot_blocks *blocks;
    bool is_unordered; /* of a device's slot: its records come in no order, and are sorted per block */
    /* Records that a reader leaves out need not be ordered for it: as in struct pt_filter. */
    pt_u32 categories, long_categories;
    pt_i64 min_duration_ns;
};

static inline bool pt_is_left_out(const struct pt_decode_source *source, enum pt_category category, pt_i64 duration_ns)
{
    const bool must_be_long = !source->long_categories || category & source->long_categories;
    return (source->categories && !(category & source->categories)) ||
           (must_be_long && duration_ns < source->min_duration_ns);
}

/* Decode one item of them. The last heap units of it are spread until the first clock of the next one. -1 when the
 * block is damaged (the batch is empty then). */
int pt_decode(struct pt_decoder *decoder, const struct pt_decode_source *source, size_t item, struct pt_batch *batch);

#endif
