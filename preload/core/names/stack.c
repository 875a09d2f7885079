/* SPDX-License-Identifier: MIT
 *
 * stack.c - the caller's native stack, by libgcc's unwinder (statically linked, hidden), as an id.
 *
 * Entered from the sampling slow path; unwinds on the private stack with signals blocked. 4 us for 35 frames, so only
 * samples come here, and a rate cap holds the cost near 1 % of a core. Not libunwind, which keeps a pipe and takes
 * locks in the host. Never ends the host: an unwinder that aborts comes back to us.
 */
#include "stack.h"

#include <unwind.h>

#include "core/file/attach.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "define.h"
#include "frame_check.h"
#include "intern.h"
#include "module.h"

#define WINDOW_TICKS (1ull << 25) /* about 10 ms */
#define STACKS_PER_WINDOW 20u

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
    for (pt_u32 i = 0; i < capture->count; i++)
        pt_define_module_of(frames[i]);
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

static int over_rate(struct pt_tracer_thread *t)
{
    const pt_u64 now = pt_clock();
    if (now - t->sample_window > WINDOW_TICKS) {
        t->sample_window = now;
        t->samples_in_window = 0;
    }
    return t->samples_in_window++ >= STACKS_PER_WINDOW;
}

pt_u32 pt_intern_stack(void)
{
    struct pt_tracer_thread *t = pt_self;
    if (!pt_switches.stacks || !t->area || t->busy || over_rate(t) || !pt_may_call())
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
