/* SPDX-License-Identifier: MIT
 *
 * state.h - what every hook looks at first: the switches, the clock and the calling thread's slot.
 */
#ifndef PT_CORE_STATE_H
#define PT_CORE_STATE_H

#include <time.h>
#include <x86intrin.h>

#include "compiler.h"
#include "thread.h"

/* Where the time comes from. */
enum pt_tsc {
    PT_TSC_NONE,        /* CLOCK_MONOTONIC */
    PT_TSC_FREE,        /* the counter */
    PT_TSC_NOT_FOR_ALL, /* the counter, but a thread may be sealed: for it, reading is the end */
};

/* Whose malloc the program calls. Found once, in the constructor: later another thread may be closing an object while
 * the list of objects is read. */
enum pt_malloc {
    PT_MALLOC_HOOKED,
    PT_MALLOC_OF_PROGRAM, /* linked into it */
    PT_MALLOC_OF_ANOTHER, /* another object's comes before ours, and may not pass calls on */
    PT_MALLOC_TOO_LATE,   /* we were loaded when the program had its malloc already */
};

/* Read-mostly switches, one cache line. All zero until the constructor has finished, so that an early hook records
 * nothing. */
struct pt_switches {
    pt_u8 io; /* record descriptors, metadata, processes */
    pt_u8 stdio;
    pt_u8 heap; /* enum pt_heap_mode */
    pt_u8 stacks;
    pt_u8 user;
    pt_u8 tsc;         /* enum pt_tsc */
    pt_u8 frozen;      /* sandboxed: no system call any more */
    pt_u8 off;         /* pass-through for good */
    pt_u8 locks;       /* enum pt_locks of hooks/wait/lock.h; 0 = off */
    pt_u8 clock_shift; /* ticks = counter >> clock_shift */
    pt_u8 waits;       /* for descriptors, time, signals, children */
    pt_u8 net;
    pt_u8 cuda;   /* calls of CUDA and what GPUs do */
    pt_u8 malloc; /* enum pt_malloc */
    pt_u8 starts; /* look after programs that are started: also where nothing is recorded (any more) */
};
extern struct pt_switches pt_switches __attribute__((visibility("hidden")));

/* The slot of every thread before its first event: everything is 0, so every fast path takes the slow one. This
 * saves each hook a test for NULL. Many threads may increment its cursors at once; they are never read. */
extern struct pt_tracer_thread pt_no_thread __attribute__((visibility("hidden")));

/* What a thread keeps of ours in its thread-local storage. */
struct pt_thread_local {
    struct pt_tracer_thread *self; /* its slot, or &pt_no_thread */
    pt_u32 mark;                   /* PT_LOCAL_OURS: this is that storage */
};

/* A child of clone(CLONE_SETTLS), as Chromium makes one to lock itself in, and a thread of a runtime that is not libc's
 * have a thread pointer to something else: there lie zeros, or anything. Without the mark nothing there is read
 * further, and nothing is ever written. */
#define PT_LOCAL_OURS 0x50544c53u
#define PT_LOCAL_SEALED 0x50544c54u /* ours, but the thread is sealed */

/* initial-exec: global-dynamic TLS may call malloc. */
extern __thread struct pt_thread_local pt_local __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Relative to the thread pointer, whatever that points to. For a thread-local variable clang asks the memory at that
 * pointer for its address (%fs:0), which only libc writes there; gcc does not. */
#ifdef __clang__
#define PT_OF_LOCAL(field, move)                                                                                       \
    ({                                                                                                                 \
        __typeof__(pt_local.field) value;                                                                              \
        pt_u64 at;                                                                                                     \
        __asm__ volatile("movq pt_local@GOTTPOFF(%%rip), %1\n\t" move " %%fs:%c2(%1), %0"                              \
                         : "=r"(value), "=&r"(at)                                                                      \
                         : "i"(__builtin_offsetof(struct pt_thread_local, field)));                                    \
        value;                                                                                                         \
    })
#else
#define PT_OF_LOCAL(field, move) (pt_local.field)
#endif

PT_ALWAYS_INLINE pt_u32 pt_local_mark(void)
{
    return PT_OF_LOCAL(mark, "movl");
}

PT_ALWAYS_INLINE int pt_local_is_ours(void)
{
    return pt_likely(pt_local_mark() == PT_LOCAL_OURS);
}

PT_ALWAYS_INLINE struct pt_tracer_thread *pt_slot_of_caller(void)
{
    if (pt_likely(pt_local_is_ours()))
        return PT_OF_LOCAL(self, "movq");
    struct pt_tracer_thread *none = &pt_no_thread;
    __asm__("" : "+r"(none)); /* else gcc makes this address in each call, before it looks */
    return none;
}

/* The calling thread's slot, or &pt_no_thread. Reads like a variable, as errno does. */
#define pt_self (pt_slot_of_caller())

/* Only where pt_local_is_ours(). */
PT_ALWAYS_INLINE void pt_set_self(struct pt_tracer_thread *t)
{
    pt_local.self = t;
}

#pragma GCC visibility push(hidden)
pt_u64 pt_clock_slow(void);

/* The calling thread is about to lose all system calls but four (strict mode), or the right to read the clock: it is
 * sealed. Nothing more is recorded of it, all is counted. */
void pt_thread_seal(void);
/* It may read the clock again, and is recorded from now on. */
void pt_thread_unseal(void);
/* What pt_thread_seal announced was refused, and the thread was not sealed before. */
void pt_thread_seal_refused(void);
#pragma GCC visibility pop

/* The raw counter: 12 ns hot. 0 for a thread that may not read it. */
PT_ALWAYS_INLINE pt_u64 pt_clock(void)
{
    return pt_likely(pt_switches.tsc == PT_TSC_FREE) ? __rdtsc() : pt_clock_slow();
}

/* A counter as the ticks that records hold; what lies before the trace's first tick is 0. */
PT_ALWAYS_INLINE pt_u64 pt_ticks_since(pt_u64 clock_base, pt_u64 counter)
{
    return counter > clock_base ? (counter - clock_base) >> pt_switches.clock_shift : 0;
}

/* Reserve the next slot of a thread-private buffer; only signal handlers of the same thread compete, so no lock prefix.
 */
PT_ALWAYS_INLINE char *pt_reserve(char **cursor, long bytes)
{
    char *slot = (char *)bytes;
    __asm__ volatile("xaddq %0, %1" : "+r"(slot), "+m"(*cursor) : : "memory", "cc");
    return slot;
}

PT_ALWAYS_INLINE pt_u32 pt_tag_kind(pt_i32 tag, pt_u32 kind)
{
    return (pt_u32)tag << 8 | kind;
}

PT_ALWAYS_INLINE pt_u64 pt_words(pt_u32 low, pt_u32 high)
{
    return (pt_u64)high << 32 | low;
}

/* Commit a record that is filled but for its stamp: whoever reads the file takes it from then on. */
PT_ALWAYS_INLINE void pt_commit_record(const struct pt_tracer_thread *t, struct pt_record *r, pt_u64 counter)
{
    __atomic_store_n(&r->stamp, pt_ticks_since(t->clock_base, counter) << PT_GENERATION_BITS | t->records.generation,
                     __ATOMIC_RELEASE);
}

/* Append a record, signals blocked. 0 = there was no room. Reserve first, then check: a raw clone() that shares the
 * slot may fill the buffer after its owner looked, and the record would lie in the memory behind it. */
static inline int pt_append_record(struct pt_tracer_thread *t, pt_u64 counter, pt_u32 aux, pt_u32 tag_kind,
                                   pt_u64 word0, pt_u64 word1)
{
    char *slot = pt_reserve(&t->records.cursor, sizeof(struct pt_record));
    struct pt_record *r = (struct pt_record *)(void *)slot;
    if (slot >= t->records.end)
        return 0;
    r->aux = aux;
    r->tag_kind = tag_kind;
    r->words[0] = word0;
    r->words[1] = word1;
    pt_commit_record(t, r, counter);
    return 1;
}

#endif
