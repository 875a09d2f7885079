/* SPDX-License-Identifier: MIT
 *
 * thread_clock.c - notes what the kernel counted for threads.
 *
 * Entered from any hook in any thread or signal handler, outside of sandboxes. Never: records the clock of another
 * thread as the caller's: a child of vfork, or a raw clone that shares the slot, is recognised by its thread id.
 */
#include "thread_clock.h"

#include <sys/resource.h>

#include "proftrace/events.h"
#include "proftrace/format.h"
#include "core/private.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "image_state.h"
#include "rollover.h"

#define LEAST_BETWEEN_TICKS (1ull << 21) /* about 1 ms */
#define MOST_OTHER_THREADS 256u
#define UNKNOWN_SWITCHES ~0u

/* The clock of another thread of this process: what pthread_getcpuclockid would return. */
#define CLOCK_OF_THREAD(tid) ((clockid_t)(~(pt_u32)(tid) << 3 | 6))

struct reading {
    pt_u32 tid;
    pt_u32 is_valid;
    pt_u64 counter, on_cpu_ns;
    pt_u64 switches; /* waits, preemptions */
};

/* getrusage knows the time on a CPU only to the last tick; the clock knows it to now, but no switches. */
static void read_own(void *argument)
{
    struct reading *reading = argument;
    struct rusage usage;
    if ((pt_u32)pt_syscall0(SYS_gettid) != reading->tid || pt_syscall2(SYS_getrusage, RUSAGE_THREAD, &usage) < 0)
        return;
    reading->on_cpu_ns = pt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    reading->counter = pt_clock();
    reading->switches = pt_words((pt_u32)usage.ru_nvcsw, (pt_u32)usage.ru_nivcsw);
    reading->is_valid = reading->on_cpu_ns != 0;
}

static void put(struct pt_tracer_thread *t, const struct reading *reading, pt_u32 other_tid)
{
    pt_append_record(t, reading->counter, other_tid, pt_tag_kind(0, PT_EV_thread_clock), reading->on_cpu_ns,
                     reading->switches);
}

void pt_thread_clock_append(struct pt_tracer_thread *t)
{
    struct reading reading = {.tid = t->tid};
    pt_on_private_stack(t->priv, read_own, &reading);
    if (!reading.is_valid)
        return;
    t->clock_read_at = reading.counter;
    put(t, &reading, 0);
}

static void make_room(struct pt_tracer_thread *t)
{
    if (t->records.cursor >= t->records.end)
        pt_rollover(t, PT_BUFFER_RECORDS);
}

PT_NOINLINE void pt_thread_clock_note(void)
{
    struct pt_tracer_thread *t = pt_self;
    if (!t->area || pt_switches.off || pt_clock() - t->clock_read_at < LEAST_BETWEEN_TICKS || !pt_may_call())
        return;
    const pt_u64 mask = pt_signals_block();
    if (pt_claim(t)) {
        make_room(t);
        pt_thread_clock_append(t);
        pt_unclaim(t);
    }
    pt_signals_restore(mask);
}

static void note_other(struct pt_tracer_thread *self, pt_u32 tid)
{
    const struct reading reading = {.counter = pt_clock(),
                                    .on_cpu_ns = pt_sys_clock_ns(CLOCK_OF_THREAD(tid)),
                                    .switches = pt_words(UNKNOWN_SWITCHES, UNKNOWN_SWITCHES)};
    if (!reading.on_cpu_ns || !pt_claim(self))
        return;
    make_room(self);
    put(self, &reading, tid);
    pt_unclaim(self);
}

void pt_thread_clock_note_all(void)
{
    struct pt_tracer_thread *self = pt_self;
    pt_thread_clock_note();
    if (!self->area || pt_switches.off || !pt_image || !pt_may_call() || (pt_u32)pt_syscall0(SYS_gettid) != self->tid)
        return;
    const pt_u64 mask = pt_signals_block();
    const pt_u32 made = __atomic_load_n(&pt_image->n_threads, __ATOMIC_RELAXED);
    const pt_u32 n = made < MOST_OTHER_THREADS ? made : MOST_OTHER_THREADS;
    for (pt_u32 i = 0; i < n; i++) {
        const pt_u32 tid = __atomic_load_n(&pt_image->threads[i].tid, __ATOMIC_ACQUIRE);
        /* The clock of a device's slot would be that of id 0: the caller's own, counted twice. */
        if (tid && tid < PT_DEVICE_TID && tid != self->tid)
            note_other(self, tid);
    }
    pt_signals_restore(mask);
}
