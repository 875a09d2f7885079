/* SPDX-License-Identifier: MIT
 *
 * prepare.c - makes room for threads that are about to come, and a segment for one that is about to lose its file.
 *
 * Entered from hooks on any thread, with nothing held. Blocks signals and works on the private stack of the thread.
 */
#include "prepare.h"

#include "core/private.h"
#include "core/sandbox.h"
#include "core/state.h"
#include "core/sys.h"
#include "core/valgrind.h"
#include "attach.h"
#include "image_state.h"
#include "own_file.h"
#include "reserve.h"
#include "ring.h"
#include "room.h"
#include "space.h"

/* Nothing is made when another holds the slot: a clone that shares our memory. */
static void on_private_stack(struct pt_tracer_thread *t, void (*fn)(void *))
{
    if (!pt_may_call())
        return;
    const pt_u64 mask = pt_signals_block();
    if (pt_claim(t)) {
        pt_on_private_stack(t->priv, fn, t);
        pt_unclaim(t);
    }
    pt_signals_restore(mask);
}

static void make_pool(void *unused)
{
    (void)unused;
    pt_room_make_pool();
}

void pt_thread_expect(void)
{
    struct pt_tracer_thread *t = pt_thread_attached();
    if (!t)
        return;
    /* It makes a fork of the helper that grows the file of a process with threads: what that maps, we do not have. */
    if (!pt_image->has_reserve && pt_is_below_valgrind)
        pt_ring_prepare();
    const pt_u32 awaited = __atomic_add_fetch(&pt_image->awaited, 1, __ATOMIC_RELAXED);
    if (pt_room_left() < (awaited < PT_ROOM_MOST_AREAS ? awaited : PT_ROOM_MOST_AREAS))
        on_private_stack(t, make_pool);
}

static void make_own_file(void *unused)
{
    (void)unused;
    pt_own_file_make();
}

void pt_own_file_prepare(void)
{
    struct pt_tracer_thread *t = pt_thread_attached();
    if (t && !pt_switches.frozen && !pt_has_own_file())
        on_private_stack(t, make_own_file);
}

/* Not for nothing: until a segment of the ring is full there is room for some 10,000 events. */
static void make_room_for_good(void *thread)
{
    struct pt_tracer_thread *t = thread;
    pt_own_file_make();
    if (t->chunk_count <= 1)
        pt_ring_leave_own_chunk(t);
}

void pt_sandbox_prepare(void)
{
    struct pt_tracer_thread *t = pt_thread_attached();
    if (t && !pt_switches.frozen && (!pt_has_own_file() || t->chunk_count <= 1))
        on_private_stack(t, make_room_for_good);
}

static void make_room_without_path(void *t)
{
    if (!__atomic_exchange_n(&pt_image->has_reserve, 1, __ATOMIC_RELAXED)) {
        const int has_own_file = pt_own_file_make() == 0;
        if (pt_private_files(pt_reserve_make, 0) < 0 || !has_own_file)
            pt_image->has_reserve = 0;
    }
    if (((struct pt_tracer_thread *)t)->chunk_count <= 1)
        pt_ring_leave_own_chunk(t);
}

void pt_ring_prepare(void)
{
    struct pt_tracer_thread *t = pt_thread_attached();
    if (t && (t->chunk_count <= 1 || !pt_image->has_reserve))
        on_private_stack(t, make_room_without_path);
}
