/* SPDX-License-Identifier: MIT
 *
 * attach.c - gives a thread its slot at its first event, or before it first asks for a lock.
 *
 * Entered with signals blocked. No start trampoline and no key destructor: threads register themselves lazily, and the
 * slot of a dead thread is found by asking the kernel, only when a new thread needs one. Never makes a thread wait
 * until another one has attached: a thread that lacks something makes it itself.
 */
#include "attach.h"

#include "proftrace/events.h"
#include "core/real/may_be_missing.h"
#include "core/real/next.h"
#include "core/sandbox.h"
#include "core/start_memory.h"
#include "core/sys.h"
#include "area.h"
#include "checksum.h"
#include "defs.h"
#include "image.h"
#include "image_state.h"
#include "presence.h"
#include "rollover.h"
#include "room.h"
#include "thread_clock.h"

#define TAKEOVER_PROBES 4u
#define ATTACH_RETRY_TICKS (1ull << 26) /* about 20 ms */

/* The thread that owns the slot from now on. The tid is stored last, because other threads read it to see whether
 * the slot is taken. */
static void move_in(struct pt_tracer_thread *t, pt_u32 tid)
{
    struct pt_thread_area *area = t->area;
    const pt_u64 now = pt_clock();
    area->tid = tid;
    area->life = ++t->life;
    area->start_ticks = pt_ticks_since(t->clock_base, now);
    t->random = now * 0x9e3779b97f4a7c15ull | 1;
    t->countdown = 0; /* the first allocation takes the slow path and draws a gap */
    t->place_left = PT_PLACE_TICKS;
}

/* ---- taking over a dead thread's slot ---- */

/* A server with a thread for each request would fill all the room for names with these, and never learn one again.
 * Where half of it is used, what a thread has counted stays in the totals of its slot: it is told of a later thread
 * there. */
static int may_write_end(void)
{
    return __atomic_load_n(&pt_image->defs_bytes, __ATOMIC_RELAXED) <= pt_image->header->ring_limit_bytes / 2;
}

static void write_thread_end(struct pt_tracer_thread *t, pt_u32 tid)
{
    const struct pt_thread_area *area = t->area;
    const struct pt_totals *totals = area->totals[area->totals_seq & 1];
    pt_u32 rows = 0;
    if (!may_write_end())
        return;
    for (pt_u32 kind = 0; kind < PT_TOTALS_ROWS; kind++)
        rows += totals[kind].calls != 0;
    const pt_u32 payload = (pt_u32)sizeof(struct pt_def_thread_end) + rows * (pt_u32)sizeof(struct pt_def_thread_row);
    struct pt_def *def = pt_defs_reserve(t, sizeof *def + payload);
    if (!def) /* no name is missing: as above */
        return;
    struct pt_def_thread_end *end = (struct pt_def_thread_end *)(def + 1);
    struct pt_def_thread_row *out = (struct pt_def_thread_row *)(end + 1);
    *end = (struct pt_def_thread_end){.slot = t->slot,
                                      .life = area->life,
                                      .tid = tid,
                                      .rows = rows,
                                      .last_ticks = t->last_ticks,
                                      .heap_frees = area->heap_frees + area->came_between[0]};
    for (pt_u32 i = 0; i < PT_HEAP_CLASSES; i++) {
        end->heap_allocs += area->heap_spilled[i].count + (area->heap_packed[i] >> 40);
        end->heap_bytes += area->heap_spilled[i].bytes + (area->heap_packed[i] & ((1ull << 40) - 1));
    }
    for (pt_u32 kind = 0; kind < PT_TOTALS_ROWS; kind++)
        if (totals[kind].calls)
            *out++ = (struct pt_def_thread_row){kind, totals[kind]};
    def->type = PT_DEF_THREAD_END;
    def->payload_bytes = payload;
    def->crc = pt_crc(0, end, payload);
    const pt_u64 bytes = (sizeof *def + payload + 7) & ~7ull;
    __atomic_store_n(&def->commit, PT_DEF_MAGIC | bytes << 32, __ATOMIC_RELEASE);
}

struct take_over_call {
    struct pt_tracer_thread *t;
    pt_u32 old_tid;
};

/* The stack is the slot's own: its owner needs it no more. */
static void take_over_on_private_stack(void *argument)
{
    const struct take_over_call *call = argument;
    struct pt_tracer_thread *t = call->t;
    pt_rollover_dead(t, PT_BUFFER_RECORDS, call->old_tid);
    if (t->heap.base)
        pt_rollover_dead(t, PT_BUFFER_HEAP, call->old_tid);
    write_thread_end(t, call->old_tid);
}

/* Each new thread probes a few slots, beginning where the one before stopped: when threads only start, every probe
 * is a wasted system call, and when they start and end, this finds the dead ones one after another. The tid of the
 * dead owner is handed on, never written back: a slot that was taken must not look dead again. */
static struct pt_tracer_thread *take_over(pt_u32 tid)
{
    if (!pt_file_is_there(&pt_no_thread)) /* a slot of its own, which it will not get */
        return 0;
    const pt_u32 made = __atomic_load_n(&pt_image->n_threads, __ATOMIC_RELAXED);
    const pt_u32 n = made < PT_MAX_THREADS ? made : PT_MAX_THREADS;
    for (pt_u32 i = 0; i < n && i < TAKEOVER_PROBES; i++) {
        struct pt_tracer_thread *t = &pt_image->threads[__atomic_fetch_add(&pt_image->probe, 1, __ATOMIC_RELAXED) % n];
        pt_u32 old = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);
        if (!old || !t->area || pt_syscall3(SYS_tgkill, pt_image->pid, old, 0) != -ESRCH)
            continue;
        if (!__atomic_compare_exchange_n(&t->tid, &old, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        pt_set_self(t); /* growth inside needs the private memory of the slot */
        pt_unclaim(t);  /* whatever its owner died of */
        struct take_over_call call = {t, old};
        pt_on_private_stack(t->priv, take_over_on_private_stack, &call);
        move_in(t, tid);
        return t;
    }
    return 0;
}

/* ---- a new slot ---- */

static struct pt_tracer_thread *new_slot(pt_u32 tid, struct pt_private *priv, char *area)
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
    pt_set_self(t);
    char *memory = area ? area : pt_room_area();
    if (!memory) { /* give the row back, unless another thread has taken the next one */
        pt_u32 next = slot + 1;
        __atomic_compare_exchange_n(&pt_image->n_threads, &next, slot, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        return 0;
    }
    if (memory == (char *)pt_image->header)
        pt_first_area_set_up(t, memory, pt_has_own_file());
    else
        pt_area_set_up(t, memory);
    __atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
    move_in(t, tid);
    return t;
}

struct pt_tracer_thread *pt_device_slot_new(pt_u32 tid, struct pt_private *priv)
{
    struct pt_tracer_thread *const self = pt_self; /* growth inside needs the new slot's private memory */
    struct pt_tracer_thread *t = pt_image_live() ? new_slot(tid, priv, 0) : 0;
    pt_set_self(self);
    return t;
}

struct attach_call {
    struct pt_room room;
    struct pt_tracer_thread *result;
};

static int is_own_process(void)
{
    /* The child of vfork runs on its parent's TLS: a slot in its name would look dead as soon as it is gone, and
     * another thread would take it away from the parent. */
    return (pt_u32)pt_syscall0(SYS_getpid) == pt_image->pid;
}

static void attach_on_private_stack(void *argument)
{
    struct attach_call *call = argument;
    if (!pt_image_live() || !is_own_process())
        return;
    call->result = new_slot((pt_u32)pt_syscall0(SYS_gettid), call->room.priv, call->room.area);
    if (!call->result)
        pt_image->attach_refused_at = pt_clock();
}

static struct pt_tracer_thread *attach_anew(struct pt_room room)
{
    struct attach_call call = {.room = room};
    if (!room.priv && !(call.room.priv = pt_private_new())) {
        pt_image->attach_refused_at = pt_clock();
        pt_image_give_up(PT_REFUSAL_memory);
        return 0;
    }
    pt_on_private_stack(call.room.priv, attach_on_private_stack, &call);
    if (!call.result && !room.priv)
        pt_syscall2(SYS_munmap, call.room.priv, sizeof *call.room.priv);
    return call.result;
}

/* The first thread of a forked child. */
static struct pt_tracer_thread *attach_first(void)
{
    pt_start_memory_reserve_forked(pt_whole_pages(sizeof(struct pt_private)) + pt_whole_pages(pt_first_bytes()));
    struct pt_tracer_thread *t = attach_anew((struct pt_room){0});
    pt_start_memory_end_forked(t != 0);
    __atomic_store_n(&pt_image->start, PT_START_OVER, __ATOMIC_RELEASE);
    return t;
}

static struct pt_tracer_thread *attach(int is_only_thread)
{
    struct pt_room room = {0};
    if (__atomic_load_n(&pt_image->state, __ATOMIC_ACQUIRE) == PT_IMAGE_LIVE) {
        if (!is_own_process())
            return 0;
        struct pt_tracer_thread *t = take_over((pt_u32)pt_syscall0(SYS_gettid));
        if (t)
            return t;
        if (__atomic_load_n(&pt_image->n_threads, __ATOMIC_RELAXED) < PT_MAX_THREADS)
            room = pt_room_take();
    } else if (is_only_thread) {
        pt_u32 start = PT_START_NONE;
        if (__atomic_compare_exchange_n(&pt_image->start, &start, PT_START_MAKING, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return attach_first();
        if (start == PT_START_MAKING) /* a raw clone that shares our memory is at it: it may not have the same */
            return 0;
    }
    return attach_anew(room);
}

/* Not below 0: the main thread and those that libraries clone were not announced. */
static void count_arrival(void)
{
    pt_u32 awaited = __atomic_load_n(&pt_image->awaited, __ATOMIC_RELAXED);
    while (awaited && !__atomic_compare_exchange_n(&pt_image->awaited, &awaited, awaited - 1, 0, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED))
        ;
}

static int was_just_refused(void)
{
    return pt_image->attach_refused_at && pt_clock() - pt_image->attach_refused_at < ATTACH_RETRY_TICKS;
}

static struct pt_tracer_thread *thread_attach(int is_only_thread)
{
    struct pt_tracer_thread *t = pt_self;
    if (t->area)
        return t;
    if (!pt_local_is_ours() || pt_switches.frozen) {
        pt_image_refuse();
        return 0;
    }
    pt_set_self(&pt_no_thread); /* of a forked child: its slot was wiped */
    if (pt_switches.off || !pt_image || was_just_refused())
        return 0;
    t = attach(is_only_thread);
    pt_set_self(t ? t : &pt_no_thread);
    if (t) {
        count_arrival();
        pt_append_record(t, pt_clock(), 0, pt_tag_kind(0, PT_EV_thread_start), pt_words(t->tid, 0),
                         (pt_u64)pthread_self());
        if (pt_claim(t)) {
            pt_thread_clock_append(t);
            pt_unclaim(t);
        }
    }
    /* Sealed when it first read the clock: its call would be in a total, and its event among those that were lost. */
    return t && pt_local_is_ours() ? t : 0;
}

struct pt_tracer_thread *pt_thread_attach(void)
{
    return thread_attach(*pt_single_threaded);
}

enum pt_drop pt_thread_refusal(void)
{
    if (pt_switches.frozen || pt_local_mark() == PT_LOCAL_SEALED)
        return PT_DROP_frozen;
    if (!pt_local_is_ours() || (pt_image && !is_own_process()))
        return PT_DROP_in_borrowed_memory;
    const int has_slots = pt_image && __atomic_load_n(&pt_image->n_threads, __ATOMIC_RELAXED) < PT_MAX_THREADS;
    return has_slots && pt_image->attach_refused_at ? PT_DROP_no_room_for_thread : PT_DROP_no_thread_slot;
}

struct pt_tracer_thread *pt_thread_attach_blocking(void)
{
    if (!pt_local_is_ours() || !pt_may_call()) /* not even the mask call: it may kill, and would come each time */
        return pt_thread_attach();
    const pt_u64 mask = pt_signals_block();
    struct pt_tracer_thread *t = pt_thread_attach();
    pt_signals_restore(mask);
    return t;
}

/* The image's page is written before it is read: one page fault, not two. */
void pt_thread_attach_forked(void)
{
    if (pt_image)
        __atomic_fetch_or(&pt_image->pid, 0, __ATOMIC_RELAXED);
    if (pt_self->area || pt_switches.off || !pt_local_is_ours() || !pt_may_call()) {
        pt_thread_attached();
        return;
    }
    const pt_u64 mask = pt_signals_block();
    thread_attach(1);
    pt_signals_restore(mask);
}

struct pt_thread_area *pt_area_of_new_thread(void)
{
    struct pt_tracer_thread *t = pt_thread_attach_blocking();
    if (!t)
        pt_count_drop(pt_thread_refusal(), 1);
    return t ? t->area : 0;
}

void pt_thread_attach_early(void)
{
    if (!pt_switches.off && pt_image && !was_just_refused())
        pt_thread_attach_blocking();
}
