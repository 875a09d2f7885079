/* SPDX-License-Identifier: MIT
 *
 * stack.c - walks the calling thread's Python frames and makes an id of them.
 *
 * Entered by any thread, from hooks: whoever calls a hook is not running Python code at that instant, so the frames
 * stand still. Holds no GIL, makes no Python call but the one that reads a thread-local. A stack that was seen before
 * costs its walk; a new one is written on the private stack.
 */
#include "stack.h"

#include "core/emit.h"
#include "core/file/attach.h"
#include "core/names/define.h"
#include "core/names/intern.h"
#include "core/private.h"
#include "core/sandbox.h"
#include "core/sys.h"
#include "api.h"
#include "layout.h"

static struct pt_python_header layout;
static pt_u64 own_file;

/* The pages that a walk has found to be there, by their number, plus 1. */
struct seen_pages {
    pt_u64 page[4];
};

static int read_if_there(void *context, pt_u64 address, void *to, pt_u64 bytes)
{
    struct seen_pages *seen = context;
    if (address + bytes < address)
        return -1;
    for (pt_u64 page = address >> 12; page <= (address + bytes - 1) >> 12; page++) {
        pt_u64 *place = &seen->page[page % (sizeof seen->page / sizeof *seen->page)];
        if (*place != page + 1 && !pt_sys_is_readable(page << 12))
            return -1;
        *place = page + 1;
    }
    __builtin_memcpy(to, (const void *)address, bytes);
    return 0;
}

/* 3.11 and 3.12 publish what holds the first frame before the frame is in it. A handler of the program, in C, can make
 * a call that is recorded in that moment (CPython's own writes into a pipe at each signal, for asyncio), and finds what
 * lay on the stack before: there each page is asked for before it is read. */
static int first_may_be_torn(void)
{
    return layout.layout.cframe_frame != PT_PYTHON_NO_MEMBER && pt_may_call();
}

/* The next frame that is not ours. */
PT_ALWAYS_INLINE int next_point(const struct pt_python_view *view, pt_u64 *frame, struct pt_python_point *point,
                                pt_u64 *ret_file)
{
    while (pt_python_next(view, frame, point) > 0) {
        if (pt_python_word(view, point->code + layout.layout.code_file, ret_file) < 0)
            return 0;
        if (*ret_file != own_file)
            return 1;
    }
    return 0;
}

PT_ALWAYS_INLINE pt_u64 fold(pt_u64 hash, pt_u64 word)
{
    const unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0xd6e8feb86659fd93ull;
    return (pt_u64)product ^ (pt_u64)(product >> 64);
}

/* Code objects come and go, and another may get the address: name, file and line say whether it is another. */
PT_ALWAYS_INLINE pt_u64 hash_of(const struct pt_python_view *view, pt_u64 frame)
{
    struct pt_python_point point;
    pt_u64 hash = 0x5079537461636b00ull, name, file;
    pt_u32 first_line;
    for (pt_u32 n = 0; n < PT_STACK_FRAMES && next_point(view, &frame, &point, &file); n++) {
        if (pt_python_word(view, point.code + layout.layout.code_name, &name) < 0 ||
            view->read(view->context, point.code + layout.layout.code_first_line, &first_line, sizeof first_line) < 0)
            break;
        hash = fold(hash, point.code + ((pt_u64)point.instruction << 44));
        hash = fold(hash ^ file, name + ((pt_u64)first_line << 44));
    }
    return hash;
}

struct define_call {
    const struct pt_python_view *view;
    struct pt_tracer_thread *t;
    pt_u64 frame;
    pt_u32 id;
};

static void define_on_private_stack(void *argument)
{
    const struct define_call *call = argument;
    struct pt_private *priv = call->t->priv;
    struct pt_python_point point;
    pt_u64 frame = call->frame, file;
    pt_u32 n = 0;
    while (n < PT_STACK_FRAMES && next_point(call->view, &frame, &point, &file)) {
        const pt_u32 length = pt_python_describe(call->view, &point, priv->text, sizeof priv->text);
        if (length)
            priv->frames[n++] = pt_python_frame(pt_intern_bytes(priv->text, length));
    }
    pt_define_stack(call->t, priv->frames, n, call->id);
}

PT_COLD static void define(const struct pt_python_view *view, pt_u64 frame, pt_u32 id)
{
    struct define_call call = {view, pt_thread_attached(), frame, id};
    if (!call.t || !pt_may_call())
        return;
    const pt_u64 mask = pt_signals_block();
    if (pt_claim(call.t)) {
        pt_on_private_stack(call.t->priv, define_on_private_stack, &call);
        pt_unclaim(call.t);
    }
    pt_signals_restore(mask);
}

/* By itself for each way of reading, so that the direct one is a plain load. */
PT_ALWAYS_INLINE pt_u32 stack_of(const struct pt_python_view *view, pt_u64 thread)
{
    pt_u64 frame = 0;
    int is_new;
    if (pt_python_first(view, thread, &frame) < 0 || !frame)
        return 0;
    const pt_u32 id = pt_intern_hash(hash_of(view, frame), &is_new);
    if (is_new)
        define(view, frame, id);
    return id;
}

PT_NOINLINE static pt_u32 stack_that_may_be_torn(pt_u64 thread)
{
    struct seen_pages seen = {0};
    const struct pt_python_view view = {&layout, read_if_there, &seen};
    return stack_of(&view, thread);
}

pt_u32 pt_python_stack(void)
{
    static const struct pt_python_view view = {&layout, pt_python_read_own, 0};
    const pt_u64 thread = (pt_u64)pt_python_api.PyGILState_GetThisThreadState();
    /* When the interpreter goes, it frees what belongs to daemon threads under their feet. */
    if (!thread || pt_python_api.Py_IsFinalizing())
        return 0;
    return first_may_be_torn() ? stack_that_may_be_torn(thread) : stack_of(&view, thread);
}

void pt_python_stack_start(const struct pt_python_header *python, void *file)
{
    layout = *python;
    own_file = (pt_u64)file;
    __atomic_store_n(&pt_place_of_thread, pt_python_stack, __ATOMIC_RELEASE);
    if (pt_self->area)
        pt_self->place_left = 0;
}

void pt_python_stack_stop(void)
{
    __atomic_store_n(&pt_place_of_thread, 0, __ATOMIC_RELEASE);
}
