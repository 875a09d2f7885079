/* SPDX-License-Identifier: MIT
 *
 * attach.c - gives a thread its slot at its first event.
 *
 * Entered with signals blocked. No start trampoline and no key destructor: threads register themselves lazily, and the
 * slot of a dead thread is found by asking the kernel, only when a new thread needs one.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "options.h"
#include "slow.h"
#include "space.h"
#include "sys.h"

#define DEFS_BYTES 16384u
#define RECORDS_BYTES (PT_CODEC_MAX_RECORDS * (pt_u32)sizeof(struct pt_record))
#define UNITS_BYTES (PT_CODEC_MAX_UNITS * (pt_u32)sizeof(struct pt_unit16))
#define TAKEOVER_PROBES 16u
#define ATTACH_RETRY_TICKS (1ull << 26) /* about 20 ms */

struct pt_tracer_thread pt_nobody;
__thread struct pt_tracer_thread *pt_self = &pt_nobody;

pt_u64 pt_area_bytes(void)
{
    return PT_THREAD_HEADER_BYTES + RECORDS_BYTES + DEFS_BYTES + (pt_options.heap == PT_HEAP_FULL ? UNITS_BYTES : 0);
}

static void set_up_buffer(struct pt_tracer_thread *t, struct pt_buffer *buffer, enum pt_stream_id stream, pt_u32 offset,
                          pt_u32 bytes)
{
    struct pt_raw_buffer *raw = &t->area->raw[stream];
    raw->offset = offset;
    raw->bytes = bytes;
    buffer->base = (char *)t->area + offset;
    buffer->sequence = 1;
    buffer->generation = 1;
    raw->sequence = buffer->sequence << PT_GENERATION_BITS | buffer->generation;
    buffer->cursor = buffer->base;
    buffer->end = buffer->base + bytes;
}

static void set_up_area(struct pt_tracer_thread *t, char *memory)
{
    t->area = (struct pt_thread_area *)(void *)memory;
    struct pt_thread_area *area = t->area;
    area->segment.type = PT_SEGMENT_THREAD;
    area->segment.bytes = pt_area_bytes();
    area->segment.slot = t->slot;
    pt_u32 at = PT_THREAD_HEADER_BYTES;
    set_up_buffer(t, &t->records, PT_STREAM_RECORDS, at, RECORDS_BYTES);
    at += RECORDS_BYTES;
    if (pt_options.heap == PT_HEAP_FULL) {
        set_up_buffer(t, &t->heap, PT_STREAM_HEAP, at, UNITS_BYTES);
        at += UNITS_BYTES;
    }
    area->defs_offset = at;
    area->defs_bytes = DEFS_BYTES;
    t->defs_cursor = memory + at;
    t->defs_end = t->defs_cursor + DEFS_BYTES;
    __atomic_store_n(&area->segment.magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

/* Who lives in the slot from now on. The tid is stored last: it is what other threads probe. */
static void move_in(struct pt_tracer_thread *t, pt_u32 tid)
{
    struct pt_thread_area *area = t->area;
    const pt_u64 now = pt_clock();
    area->tid = tid;
    area->life = ++t->life;
    area->start_ticks = now > t->clock_base ? (now - t->clock_base) >> pt_switches.clock_shift : 0;
    t->random = now * 0x9e3779b97f4a7c15ull | 1;
    t->countdown = 0; /* the first allocation takes the slow path and draws a gap */
    t->last_rollover = now;
    t->sample_window = now;
}

/* ---- taking over a dead thread's slot ---- */

static void write_thread_end(struct pt_tracer_thread *t, pt_u32 tid)
{
    const struct pt_thread_area *area = t->area;
    const struct pt_totals *totals = area->totals[area->totals_seq & 1];
    pt_u32 rows = 0;
    for (pt_u32 row = 0; row < PT_TOTALS_ROWS; row++)
        rows += totals[row].calls != 0;
    const pt_u32 payload = (pt_u32)sizeof(struct pt_def_thread_end) + rows * (pt_u32)sizeof(struct pt_def_thread_row);
    struct pt_def *def = pt_defs_reserve(t, sizeof *def + payload);
    if (!def) {
        pt_count_drop(PT_DROP_definition, 1);
        return;
    }
    struct pt_def_thread_end *end = (struct pt_def_thread_end *)(def + 1);
    struct pt_def_thread_row *out = (struct pt_def_thread_row *)(end + 1);
    *end = (struct pt_def_thread_end){.slot = t->slot,
                                      .life = area->life,
                                      .tid = tid,
                                      .rows = rows,
                                      .last_ticks = t->last_ticks,
                                      .heap_frees = area->heap_frees};
    for (pt_u32 i = 0; i < PT_HEAP_CLASSES; i++) {
        end->heap_allocs += area->heap_spilled[i].count + (area->heap_packed[i] >> 40);
        end->heap_bytes += area->heap_spilled[i].bytes + (area->heap_packed[i] & ((1ull << 40) - 1));
    }
    for (pt_u32 row = 0; row < PT_TOTALS_ROWS; row++)
        if (totals[row].calls)
            *out++ = (struct pt_def_thread_row){row, totals[row]};
    def->type = PT_DEF_THREAD_END;
    def->payload_bytes = payload;
    def->crc = pt_crc(0, end, payload);
    const pt_u64 bytes = (sizeof *def + payload + 7) & ~7ull;
    __atomic_store_n(&def->commit, PT_DEF_MAGIC | bytes << 32, __ATOMIC_RELEASE);
}

/* The old tid is passed along, never put back: a taken slot must not look dead again. */
static struct pt_tracer_thread *take_over(pt_u32 tid)
{
    const pt_u32 n = pt_image->n_threads < PT_MAX_THREADS ? pt_image->n_threads : PT_MAX_THREADS;
    const pt_u32 start = tid * 2654435761u;
    for (pt_u32 i = 0; i < n && i < TAKEOVER_PROBES; i++) {
        struct pt_tracer_thread *t = &pt_image->threads[(start + i) % n];
        pt_u32 old = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);
        if (!old || !t->area || pt_syscall3(SYS_tgkill, pt_image->pid, old, 0) != -3 /* ESRCH */)
            continue;
        if (!__atomic_compare_exchange_n(&t->tid, &old, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        pt_self = t;   /* growth inside needs the private memory of the slot */
        pt_unclaim(t); /* whatever its owner died of */
        pt_rollover_dead(t, PT_STREAM_RECORDS, old);
        if (t->heap.base)
            pt_rollover_dead(t, PT_STREAM_HEAP, old);
        write_thread_end(t, old);
        return t;
    }
    return 0;
}

/* ---- a new slot ---- */

static char *area_from_pool(pt_u32 index)
{
    struct pt_area_pool *pool = &pt_image->pools[index];
    if (__atomic_load_n(&pool->next, __ATOMIC_RELAXED) >= pool->count)
        return 0;
    const pt_u32 i = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
    return i < pool->count ? pool->base + i * pt_area_bytes() : 0;
}

/* Areas come in growing runs, because a growth costs 140 us and threads come in crowds. */
static char *new_area(void)
{
    char *memory = area_from_pool(__atomic_load_n(&pt_image->pool, __ATOMIC_ACQUIRE));
    if (memory)
        return memory;
    const pt_u32 made = __atomic_load_n(&pt_image->n_pools, __ATOMIC_RELAXED);
    if (made >= PT_MAX_POOLS)
        return 0;
    const pt_u64 area_bytes = pt_area_bytes();
    pt_u64 bytes;
    char *base = pt_space_grow(made < 4 ? area_bytes << made : area_bytes * 16, area_bytes, &bytes);
    if (!base)
        return 0;
    const pt_u32 index = __atomic_fetch_add(&pt_image->n_pools, 1, __ATOMIC_RELAXED); /* no row for a refused growth */
    if (index >= PT_MAX_POOLS) { /* threads that came at once: this one takes one area, the rest is lost */
        __atomic_store_n(&pt_image->n_pools, PT_MAX_POOLS, __ATOMIC_RELAXED);
        return base;
    }
    pt_image->pools[index] = (struct pt_area_pool){base, (pt_u32)(bytes / area_bytes), 1};
    __atomic_store_n(&pt_image->pool, index, __ATOMIC_RELEASE);
    return base;
}

static struct pt_tracer_thread *new_slot(pt_u32 tid, struct pt_private *priv)
{
    const pt_u32 slot = __atomic_fetch_add(&pt_image->n_threads, 1, __ATOMIC_RELAXED);
    if (slot >= PT_MAX_THREADS) {
        __atomic_store_n(&pt_image->n_threads, PT_MAX_THREADS, __ATOMIC_RELAXED);
        return 0;
    }
    struct pt_tracer_thread *t = &pt_image->threads[slot];
    t->slot = slot;
    t->priv = priv;
    t->clock_base = pt_image->clock_base;
    pt_self = t;
    char *memory = new_area();
    if (!memory) { /* give the row back, unless another thread has taken the next one */
        pt_u32 next = slot + 1;
        __atomic_compare_exchange_n(&pt_image->n_threads, &next, slot, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        return 0;
    }
    set_up_area(t, memory);
    __atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
    return t;
}

struct pt_tracer_thread *pt_device_slot_new(pt_u32 tid, struct pt_private *priv)
{
    struct pt_tracer_thread *const self = pt_self; /* growth inside needs the new slot's private memory */
    struct pt_tracer_thread *t = pt_image_live() ? new_slot(tid, priv) : 0;
    if (t)
        move_in(t, tid);
    pt_self = self;
    return t;
}

struct attach_call {
    struct pt_private *priv;
    struct pt_tracer_thread *result;
};

static void attach_on_private_stack(void *argument)
{
    struct attach_call *call = argument;
    if (!pt_image_live())
        return;
    /* The child of vfork runs on its parent's TLS: a slot in its name would look dead as soon as it is gone, and
     * another thread would take it away from the parent. */
    if ((pt_u32)pt_syscall0(SYS_getpid) != pt_image->pid)
        return;
    const pt_u32 tid = (pt_u32)pt_syscall0(SYS_gettid);
    struct pt_tracer_thread *t = take_over(tid);
    if (!t) {
        pt_self = &pt_nobody;
        t = new_slot(tid, call->priv);
        call->priv = t ? 0 : call->priv;
    }
    if (t)
        move_in(t, tid);
    else {
        pt_count_drop(PT_DROP_no_thread_slot, 1);
        pt_image->attach_refused_at = pt_clock();
    }
    call->result = t;
}

struct pt_tracer_thread *pt_thread_attach(void)
{
    struct pt_tracer_thread *t = pt_self;
    if (t->area)
        return t;
    pt_self = &pt_nobody; /* of a forked child: its slot was wiped */
    if (pt_switches.off || pt_switches.frozen || !pt_image)
        return 0;
    if (pt_image->attach_refused_at && pt_clock() - pt_image->attach_refused_at < ATTACH_RETRY_TICKS)
        return 0;
    struct attach_call call = {.priv = pt_private_new()};
    if (!call.priv)
        return 0;
    pt_on_private_stack(call.priv, attach_on_private_stack, &call);
    if (call.priv) /* a taken-over slot brought its own, or nothing came of it */
        pt_syscall2(SYS_munmap, call.priv, sizeof *call.priv);
    pt_self = call.result ? call.result : &pt_nobody;
    if (call.result)
        pt_store(pt_clock(), 0, pt_tag_kind(0, PT_EV_thread_start), pt_words(call.result->tid, 0),
                 (pt_u64)pthread_self());
    return call.result;
}

struct pt_tracer_thread *pt_thread_attach_blocking(void)
{
    if (pt_switches.frozen) /* not even the mask call: it may kill, and would come with each allocation */
        return 0;
    const pt_u64 mask = pt_signals_block();
    struct pt_tracer_thread *t = pt_thread_attach();
    pt_signals_restore(mask);
    return t;
}
