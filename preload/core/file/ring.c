/* SPDX-License-Identifier: MIT
 *
 * ring.c - the BLOCKS segments: one current one per thread, the oldest taken again when the file may not grow.
 *
 * Entered with signals blocked, on the private stack of the segment's thread. A segment belongs to one thread from
 * PT_RING_ACTIVE to PT_RING_CLOSED; a closed one can be taken by any thread, with one compare-and-swap. What the rings
 * of all processes of a session have together is limited, too. Never touches a segment that another thread still fills.
 */
#include "ring.h"

#include "proftrace/limits.h"
#include "core/options.h"
#include "core/session_page.h"
#include "core/state.h"
#include "core/sys.h"
#include "area.h"
#include "image_state.h"
#include "own_file.h"
#include "reserve.h"
#include "space.h"

#define FIRST_CHUNK_BYTES (256u << 10)
#define CHUNK_BYTES (1u << 20)
#define LEAST_CHUNK_BYTES (128u << 10) /* the worst block must fit */

static void set_up_chunk(struct pt_tracer_thread *t, struct pt_segment *segment, pt_u64 bytes)
{
    /* A recycled segment: nothing of its former life may be taken for the new one, wherever we are killed. */
    __atomic_store_n(&segment->magic, 0, __ATOMIC_RELEASE);
    *(volatile pt_u32 *)((char *)segment + sizeof *segment) = 0;
    segment->type = PT_SEGMENT_BLOCKS;
    segment->flags = 0;
    segment->bytes = bytes;
    segment->slot = t->slot;
    segment->serial = __atomic_add_fetch(&pt_image->ring_serial, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&segment->magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    t->chunk = segment;
    t->chunk_used = sizeof *segment;
    t->chunk_count++;
}

static void set_up_in_ring(struct pt_tracer_thread *t, struct pt_segment *segment, pt_u32 index)
{
    pt_space_leave_to_none(segment, pt_image->ring[index].bytes);
    set_up_chunk(t, segment, pt_image->ring[index].bytes);
    pt_image->ring[index].serial = segment->serial;
    t->chunk_index = index;
}

static pt_u64 chunk_bytes(const struct pt_tracer_thread *t)
{
    const pt_u32 threads = __atomic_load_n(&pt_image->n_threads, __ATOMIC_RELAXED);
    const pt_u64 own = pt_image->header->ring_limit_bytes, share = PT_RING_OF_SESSION(pt_session_ring_limit());
    const pt_u64 limit = own < share ? own : share, kept = pt_options.keep_first_mib << 20;
    /* One for each thread, beside what is kept: the last one that begins in there could else be all that is left. */
    const pt_u64 most = (limit > kept ? limit - kept : 0) / (threads > 4 ? threads : 4);
    const pt_u64 large = limit / (PT_MAX_RING_SEGMENTS / 2); /* half of the rows must hold a ring of any size */
    pt_u64 bytes = t->chunk_count <= 1 ? FIRST_CHUNK_BYTES : large > CHUNK_BYTES ? large : CHUNK_BYTES;
    bytes = bytes < most ? bytes : most;
    return bytes > LEAST_CHUNK_BYTES ? bytes & ~4095ull : LEAST_CHUNK_BYTES;
}

static int add_chunk(struct pt_tracer_thread *t)
{
    struct pt_file_header *header = pt_image->header;
    const pt_u64 bytes = chunk_bytes(t);
    if (pt_space_is_refused(bytes) || __atomic_load_n(&pt_image->n_ring, __ATOMIC_RELAXED) >= PT_MAX_RING_SEGMENTS)
        return -1;
    const pt_u64 all = __atomic_add_fetch(&header->ring_bytes, bytes, __ATOMIC_RELAXED);
    if (all > header->ring_limit_bytes || pt_session_take_ring(bytes, all) < 0)
        goto refuse;
    const struct pt_space space = pt_space_grow(bytes, bytes);
    if (!space.map) {
        pt_session_give_back_ring(bytes);
        goto refuse;
    }
    const pt_u32 index =
        __atomic_fetch_add(&pt_image->n_ring, 1, __ATOMIC_RELAXED); /* after the growth: no row for none */
    if (index >= PT_MAX_RING_SEGMENTS) {                            /* threads that came at once; the space is lost */
        __atomic_store_n(&pt_image->n_ring, PT_MAX_RING_SEGMENTS, __ATOMIC_RELAXED);
        pt_reserve_unmap(space.map, bytes);
        goto refuse;
    }
    struct pt_ring_segment *entry = &pt_image->ring[index];
    entry->bytes = bytes;
    entry->offset = space.offset;
    entry->is_kept = all - bytes < pt_options.keep_first_mib << 20;
    set_up_in_ring(t, space.map, index);
    __atomic_store_n(&entry->state, PT_RING_ACTIVE, __ATOMIC_RELEASE);
    return 0;
refuse:
    __atomic_sub_fetch(&header->ring_bytes, bytes, __ATOMIC_RELAXED);
    return -1;
}

static struct pt_ring_segment *oldest_closed(void)
{
    const pt_u32 count = __atomic_load_n(&pt_image->n_ring, __ATOMIC_RELAXED);
    struct pt_ring_segment *oldest = 0;
    for (pt_u32 i = 0; i < count && i < PT_MAX_RING_SEGMENTS; i++) {
        struct pt_ring_segment *entry = &pt_image->ring[i];
        if (__atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == PT_RING_CLOSED && !entry->is_kept &&
            (!oldest || entry->serial < oldest->serial))
            oldest = entry;
    }
    return oldest;
}

/* There is one of which nobody wants to know any more: it is taken before the file grows. */
static int has_outdated(void)
{
    const struct pt_ring_segment *oldest = pt_options.keep_last_s ? oldest_closed() : 0;
    return oldest && oldest->closed_at_ns &&
           pt_sys_clock_ns(CLOCK_MONOTONIC) - oldest->closed_at_ns > pt_options.keep_last_s * 1000000000u;
}

/* Reuse the oldest closed segment, whichever thread filled it. What was in it shows as a gap in first_event. */
static int recycle_chunk(struct pt_tracer_thread *t)
{
    for (;;) {
        struct pt_ring_segment *oldest = oldest_closed();
        if (!oldest)
            return -1;
        pt_u32 closed = PT_RING_CLOSED;
        if (!__atomic_compare_exchange_n(&oldest->state, &closed, PT_RING_ACTIVE, 0, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        struct pt_segment *segment = pt_space_map(oldest->offset, oldest->bytes);
        if (!segment) {
            __atomic_store_n(&oldest->state, PT_RING_CLOSED, __ATOMIC_RELEASE);
            return -1;
        }
        set_up_in_ring(t, segment, (pt_u32)(oldest - pt_image->ring));
        __atomic_fetch_add(&pt_image->header->recycled_segments, 1, __ATOMIC_RELAXED);
        return 0;
    }
}

/* The first one lies behind the thread's area and stays there: too small for the ring. */
static int has_own_chunk(const struct pt_tracer_thread *t)
{
    return t->chunk_count == 1;
}

static void open_own_chunk(struct pt_tracer_thread *t)
{
    set_up_chunk(t, (struct pt_segment *)(void *)t->own_chunk, PT_OWN_CHUNK_BYTES);
}

static void close_chunk(struct pt_tracer_thread *t)
{
    if (has_own_chunk(t)) {
        t->chunk = 0;
        return;
    }
    struct pt_ring_segment *entry = &pt_image->ring[t->chunk_index];
    pt_reserve_unmap(t->chunk, entry->bytes);
    t->chunk = 0;
    entry->closed_at_ns = pt_options.keep_last_s ? pt_sys_clock_ns(CLOCK_MONOTONIC) : 0;
    __atomic_store_n(&entry->state, PT_RING_CLOSED, __ATOMIC_RELEASE);
}

int pt_ring_next(struct pt_tracer_thread *t)
{
    if (pt_switches.frozen && t->chunk_count) /* what the thread has, it keeps: a shorter block may fit */
        return -1;
    if (pt_own_file_make() < 0)
        return -1;
    if (t->chunk)
        close_chunk(t);
    if (!t->chunk_count) {
        open_own_chunk(t);
        return 0;
    }
    if (has_outdated() && recycle_chunk(t) == 0)
        return 0;
    return add_chunk(t) == 0 ? 0 : recycle_chunk(t);
}

void pt_ring_leave_own_chunk(struct pt_tracer_thread *t)
{
    if (pt_own_file_make() < 0)
        return;
    if (!t->chunk_count)
        open_own_chunk(t);
    pt_ring_next(t);
}
