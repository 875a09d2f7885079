/* SPDX-License-Identifier: MIT
 *
 * defs.c - space for definitions: a bump cursor in the thread's area, then in DEFS segments of its own.
 *
 * Entered from any hook, also in signal handlers. Definitions are never recycled: their names must outlive the events.
 */
#include "defs.h"

#include <sys/mman.h>

#include "core/private.h"
#include "core/sandbox.h"
#include "core/state.h"
#include "core/sys.h"
#include "area.h"
#include "image_state.h"
#include "own_file.h"
#include "space.h"

#define DEFS_SEGMENT_BYTES (64u << 10)

static void set_up(struct pt_tracer_thread *t, char *memory, pt_u64 bytes)
{
    struct pt_segment *segment = (struct pt_segment *)(void *)memory;
    segment->type = PT_SEGMENT_DEFS;
    segment->bytes = bytes;
    segment->slot = t->slot;
    __atomic_store_n(&segment->magic, PT_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    t->defs_end = memory + bytes;
    t->defs_cursor = memory + sizeof *segment;
}

static int next_defs(struct pt_tracer_thread *t)
{
    const pt_u64 limit = pt_image->header->ring_limit_bytes;
    if (pt_image->is_gone || pt_own_file_make() < 0)
        return -1;
    if (t->more_defs) {
        set_up(t, t->more_defs, PT_FIRST_DEFS_BYTES);
        t->more_defs = 0;
        return 0;
    }
    const pt_u64 defs_bytes = __atomic_add_fetch(&pt_image->defs_bytes, DEFS_SEGMENT_BYTES, __ATOMIC_RELAXED);
    char *memory = defs_bytes > limit ? 0 : pt_space_grow(DEFS_SEGMENT_BYTES, DEFS_SEGMENT_BYTES).map;
    if (!memory) {
        __atomic_sub_fetch(&pt_image->defs_bytes, DEFS_SEGMENT_BYTES, __ATOMIC_RELAXED);
        return -1;
    }
    /* What is full stays mapped, as a handler's caller may not have committed in it yet; but not resident. */
    if (t->full_defs)
        pt_syscall3(SYS_madvise, t->full_defs, DEFS_SEGMENT_BYTES, MADV_DONTNEED);
    t->full_defs = memory;
    set_up(t, memory, DEFS_SEGMENT_BYTES);
    return 0;
}

struct next_defs_call {
    struct pt_tracer_thread *t;
    int result;
};

static void call_next_defs(void *argument)
{
    struct next_defs_call *call = argument;
    call->result = next_defs(call->t);
}

void *pt_defs_reserve(struct pt_tracer_thread *t, pt_u64 bytes)
{
    for (;;) {
        char *at = pt_reserve(&t->defs_cursor, (long)bytes);
        if (at && at + bytes <= t->defs_end)
            return at;
        if (!pt_may_call())
            return 0;
        const pt_u64 mask = pt_signals_block();
        struct next_defs_call call = {t, -1};
        if (t->defs_cursor >= t->defs_end) { /* else a signal handler has just made room */
            if (pt_is_on_private_stack(t))
                call_next_defs(&call);
            else if (pt_claim(t)) {
                pt_on_private_stack(t->priv, call_next_defs, &call);
                pt_unclaim(t);
            }
        } else
            call.result = 0;
        pt_signals_restore(mask);
        if (call.result < 0)
            return 0;
    }
}
