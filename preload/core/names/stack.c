/* SPDX-License-Identifier: MIT
 *
 * stack.c - the caller's native stack, by libgcc's unwinder (statically linked, hidden), as an id.
 *
 * Entered from the sampling slow path; unwinds on the private stack with signals blocked. 4 us for 35 frames, so only
 * samples come here, and of them no more than stack_pace.h allows. Not libunwind, which keeps a pipe and takes
 * locks in the host. Never ends the host: an unwinder that aborts comes back to us.
 */
#include "stack.h"

#include <pthread.h>
#include <unwind.h>

#include "core/emit.h"
#include "core/file/image_state.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "define.h"
#include "frame_check.h"
#include "intern.h"
#include "module.h"

#define JUDGED_AFTER_TICKS (1ull << 25)       /* about 10 ms */
#define JUDGED_AFTER_SPENT_TICKS (1ull << 18) /* about 0.1 ms: 20 stacks */
#define MOST_TICKS_OF_ONE (1ull << 17)        /* what took longer was not on a CPU, or defined names, once */

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

struct capture {
    struct pt_tracer_thread *t;
    struct pt_frame_check check;
    pt_u32 count;
    pt_u32 id;
};

/* Does nothing where nothing is being unwound. */
static void leave_unwinding(void)
{
    struct pt_tracer_thread *t = pt_self;
    if (t->priv && t->priv->escape[1])
        __builtin_longjmp(t->priv->escape, 1);
}

/* libgcc's unwinder refers to it; ours is hidden and forwards, so that ld.so does not become NEEDED. Code without a
 * module is JIT code, or no code at all: libgcc would read what lies there, in search of a signal frame. */
__attribute__((visibility("hidden"))) int _dl_find_object(void *address, struct dl_find_object *result)
{
    const int error = pt_module_find(address, result);
    if (error)
        leave_unwinding();
    return error;
}

/* libgcc calls it on broken unwind tables. Ours is hidden: never end the host; leave the unwinding instead. */
__attribute__((visibility("hidden"), noreturn)) void abort(void)
{
    pt_switches.stacks = 0;
    leave_unwinding();
    for (;;) /* not reachable: nothing else in the library calls abort */
        pt_syscall1(SYS_pause, 0);
}

/* libgcc looks whether it exists, and never calls it: there are threads, and locks are to be taken. It is part of libc
 * since glibc 2.34 only, under a version that an older ld.so would end the program for. */
__attribute__((visibility("hidden"))) extern const char pt_there_are_threads __asm__("__pthread_key_create");
const char pt_there_are_threads = 1;

/* libgcc calls it before the first stack. libc's makes a system call (futex) where nobody waits, too, and ends the
 * program where a filter refuses that. Ours is hidden; what it runs fills a table, and may run twice. */
__attribute__((visibility("hidden"))) int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    if (!__atomic_load_n(control, __ATOMIC_ACQUIRE)) {
        routine();
        __atomic_store_n(control, 1, __ATOMIC_RELEASE);
    }
    return 0;
}

static _Unwind_Reason_Code visit_frame(struct _Unwind_Context *context, void *argument)
{
    struct capture *capture = argument;
    const pt_u64 address = _Unwind_GetIP(context);
    if (!address)
        return _URC_END_OF_STACK;
    /* Our own frames lie innermost: hook, slow path, private stack. */
    if (!capture->count && address >= (pt_u64)__ehdr_start && address < (pt_u64)_end)
        return _URC_NO_REASON;
    capture->t->priv->frames[capture->count++] = address;
    return capture->count < PT_STACK_FRAMES && pt_frame_is_safe(&capture->check, context) ? _URC_NO_REASON
                                                                                          : _URC_END_OF_STACK;
}

static void define_stack(const struct capture *capture, pt_u32 id)
{
    const pt_u64 *frames = capture->t->priv->frames;
    struct pt_known_module module = {0};
    for (pt_u32 i = 0; i < capture->count; i++)
        pt_define_module_of(frames[i], &module);
    pt_define_stack(capture->t, frames, capture->count, id);
}

static void capture_on_private_stack(void *argument)
{
    struct capture *capture = argument;
    struct pt_private *priv = capture->t->priv;
    capture->check.known = priv->frame_rules;
    if (__builtin_setjmp(priv->escape) == 0)
        _Unwind_Backtrace(visit_frame, capture);
    priv->escape[1] = 0;
    if (!capture->count)
        return;
    int is_new;
    capture->id =
        pt_intern_hash(pt_hash_bytes(priv->frames, capture->count * sizeof *priv->frames, PT_DEF_STACK), &is_new);
    if (is_new)
        define_stack(capture, capture->id);
}

/* ---- of which samples ---- */

static pt_u32 latest_doublings; /* of any thread: where new threads and forked children begin */
static pt_i64 spare_ns = PT_PACE_SPARE_NS;

/* The thread's own CPU time where the kernel tells it, which is of another thread when a clone shares the slot. */
static pt_u64 ran_since(struct pt_stack_pace *pace, pt_u64 elapsed_ns)
{
    const pt_u64 before_ns = pace->cpu_ns, now_ns = pt_sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const pt_u64 ran_ns = now_ns >= before_ns ? now_ns - before_ns : now_ns;
    pace->cpu_ns = now_ns;
    return now_ns && ran_ns < elapsed_ns ? ran_ns : elapsed_ns;
}

static void judge_when_due(struct pt_tracer_thread *t)
{
    struct pt_stack_pace *pace = &t->pace;
    const pt_u64 now = pt_clock();
    if (!pace->judged_at) {
        pace->judged_at = now;
        pace->doublings = __atomic_load_n(&latest_doublings, __ATOMIC_RELAXED);
    }
    if (now - pace->judged_at < JUDGED_AFTER_TICKS && pace->spent < JUDGED_AFTER_SPENT_TICKS)
        return;
    if (!pt_may_call())
        return;
    const pt_u64 ran_ns = ran_since(pace, pt_counters_as_ns(now - pace->judged_at));
    pt_stack_pace_judge(pace, ran_ns, pt_counters_as_ns(pace->spent), &spare_ns);
    pace->judged_at = now;
    pace->spent = 0;
    if (pace->doublings != __atomic_load_n(&latest_doublings, __ATOMIC_RELAXED))
        __atomic_store_n(&latest_doublings, pace->doublings, __ATOMIC_RELAXED);
}

PT_NOINLINE PT_ALIGNS_STACK pt_u32 pt_stack_turn(struct pt_tracer_thread *t, pt_u64 size_bytes, pt_u64 interval_bytes)
{
    judge_when_due(t);
    t->pace.n_samples++;
    const pt_u32 halvings = pt_stack_pace_halvings(&t->pace, size_bytes, interval_bytes);
    return halvings && pt_random(t) >> (64 - halvings) ? 0 : 1u << halvings;
}

void pt_stack_paid(struct pt_tracer_thread *t, pt_u64 begun)
{
    const pt_u64 spent = pt_clock() - begun;
    t->pace.n_taken++;
    t->pace.spent += spent < MOST_TICKS_OF_ONE ? spent : MOST_TICKS_OF_ONE;
}

/* ---- the capture ---- */

pt_u32 pt_intern_stack(void)
{
    struct pt_tracer_thread *t = pt_self;
    if (!pt_switches.stacks || !t->area || t->busy || !pt_may_call())
        return 0;
    const pt_u64 mask = pt_signals_block();
    struct capture capture = {.t = t};
    if (pt_claim(t)) {
        pt_on_private_stack(t->priv, capture_on_private_stack, &capture);
        pt_unclaim(t);
    }
    pt_signals_restore(mask);
    return capture.id;
}
