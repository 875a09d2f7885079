/* SPDX-License-Identifier: MIT
 *
 * heap.c - the malloc family, hooked as one set.
 *
 * Entered by every thread, all the time, from before the first constructor to after the last destructor. The sampled
 * fast path does its book-keeping before the real call, so that the hook is a tail call without a frame: about 3 ns. A
 * release is recorded before the real free, an allocation after the real malloc: another thread may get the address in
 * between. C++ operator new reaches malloc; reallocarray reaches realloc; neither is hooked, or both would be counted
 * twice. The operator new of jemalloc and kin does not: module.c says why it is only noted that they are there. Never
 * allocates, locks or waits on the fast path.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#include "proftrace/events.h"
#include "core/emit.h"
#include "core/file/attach.h"
#include "core/file/image_state.h"
#include "core/real/may_be_missing.h"
#include "core/real/next.h"
#include "core/options.h"
#include "boot_heap.h"
#include "heap_sample.h"

/* ---- the real family ---- */

static void *boot_malloc(size_t size);
static void *boot_calloc(size_t count, size_t size);
static void *boot_realloc(void *block, size_t size);
static void boot_free(void *block);
static void *boot_memalign(size_t alignment, size_t size);
static int boot_posix_memalign(void **ret, size_t alignment, size_t size);
static size_t boot_usable_size(void *block);
static void *boot_page_aligned(size_t size);

static void *(*real_malloc)(size_t) = boot_malloc;
static void *(*real_calloc)(size_t, size_t) = boot_calloc;
static void *(*real_realloc)(void *, size_t) = boot_realloc;
static void (*real_free)(void *) = boot_free;
static void *(*real_memalign)(size_t, size_t) = boot_memalign;
static void *(*real_aligned_alloc)(size_t, size_t) = boot_memalign;
static int (*real_posix_memalign)(void **, size_t, size_t) = boot_posix_memalign;
static void *(*real_valloc)(size_t) = boot_page_aligned;
static void *(*real_pvalloc)(size_t) = boot_page_aligned;
static size_t (*real_malloc_usable_size)(void *) = boot_usable_size;

enum { UNRESOLVED, RESOLVING, RESOLVED };
static pt_u32 resolution;

static void resolve_one(const char *name, void *slot)
{
    void *found = pt_next_prepare() == 0 ? pt_next_find(name, 0) : dlsym ? dlsym(RTLD_NEXT, name) : 0;
    if (found)
        __atomic_store_n((void **)slot, found, __ATOMIC_RELEASE);
}

/* 1 when the real functions are resolved. 0 inside dlsym's own allocations and, for that short time, in other
 * threads. */
static int resolve(void)
{
    pt_u32 unresolved = UNRESOLVED;
    if (__atomic_load_n(&resolution, __ATOMIC_ACQUIRE) == RESOLVED)
        return 1;
    if (!__atomic_compare_exchange_n(&resolution, &unresolved, RESOLVING, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return 0;
    resolve_one("malloc_usable_size", &real_malloc_usable_size);
    resolve_one("pvalloc", &real_pvalloc);
    resolve_one("valloc", &real_valloc);
    resolve_one("posix_memalign", &real_posix_memalign);
    resolve_one("aligned_alloc", &real_aligned_alloc);
    resolve_one("memalign", &real_memalign);
    resolve_one("realloc", &real_realloc);
    resolve_one("calloc", &real_calloc);
    resolve_one("free", &real_free);
    resolve_one("malloc", &real_malloc);
    __atomic_store_n(&resolution, RESOLVED, __ATOMIC_RELEASE);
    return 1;
}

static void *boot_malloc(size_t size)
{
    return resolve() ? real_malloc(size) : pt_boot_alloc(16, size);
}

static void *boot_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (resolve())
        return real_calloc(count, size);
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return 0;
    }
    return pt_boot_alloc(16, bytes);
}

/* A block of the boot arena cannot be grown in place: copy it out. */
static void *move_boot_block(void *block, size_t size, void *(*alloc)(size_t))
{
    void *moved = alloc(size);
    if (moved && block) {
        const size_t old = pt_boot_size(block);
        __builtin_memcpy(moved, block, old < size ? old : size);
    }
    return moved;
}

static void *boot_realloc(void *block, size_t size)
{
    return resolve() ? real_realloc(block, size) : move_boot_block(block, size, boot_malloc);
}

static void boot_free(void *block)
{
    if (resolve())
        real_free(block);
}

static void *boot_memalign(size_t alignment, size_t size)
{
    return resolve() ? real_memalign(alignment, size) : pt_boot_alloc(alignment, size);
}

static int boot_posix_memalign(void **ret, size_t alignment, size_t size)
{
    if (resolve())
        return real_posix_memalign(ret, alignment, size);
    *ret = pt_boot_alloc(alignment, size);
    return *ret ? 0 : ENOMEM;
}

static void *boot_page_aligned(size_t size)
{
    return resolve() ? real_valloc(size) : pt_boot_alloc(4096, size);
}

static size_t boot_usable_size(void *block)
{
    return resolve() ? real_malloc_usable_size(block) : 0;
}

/* Full mode: no fast path. After the core's constructor (101). */
__attribute__((constructor(102))) static void start(void)
{
    if (pt_options.heap == PT_HEAP_FULL)
        pt_sampled_pin_all();
}

/* ---- book-keeping ---- */

/* Count an allocation before it is made. 0 = it needs the slow path: a sample is due, the block is large, the thread
 * or the forked child is new, or nothing or everything is recorded (then countdown stays 0). A failed small
 * allocation would be counted, too; in practice there is none. */
PT_ALWAYS_INLINE int count_fast(size_t size)
{
    struct pt_tracer_thread *t = pt_self;
    pt_u64 left;
    if (pt_unlikely(__builtin_sub_overflow(t->countdown, 16, &left) || __builtin_sub_overflow(left, size, &left)))
        return 0;
    t->countdown = left;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct pt_thread_area *area = t->area;
    if (pt_unlikely(!area)) { /* a handler forked, and this is the child, whose slot was wiped */
        t->countdown = 0;
        return 0;
    }
    area->heap_packed[pt_heap_class_of(size)] += (1ull << 40) + size;
    return 1;
}

/* After an allocation that was not counted yet. */
PT_NOINLINE static void allocated(pt_u32 kind, void *block, size_t size)
{
    if (pt_unlikely(!block)) {
        if (pt_self->area)
            pt_self->area->heap_failures++;
        return;
    }
    pt_heap_allocated(kind, block, size);
}

/* Before a block is released. */
PT_NOINLINE static void releasing(pt_u32 kind, void *block)
{
    struct pt_tracer_thread *t = pt_self;
    if (!pt_switches.heap)
        return;
    if (!t->area && !(t = pt_thread_attached())) {
        pt_count_drop(pt_thread_refusal(), 1);
        return;
    }
    t->area->heap_frees++;
    if (pt_maybe_sampled(block))
        pt_heap_maybe_release(block);
    if (pt_switches.heap == PT_HEAP_FULL)
        pt_unit(kind, block, 0);
}

/* ---- the hooks ---- */

PT_NOINLINE PT_ON_ANY_STACK static void *malloc_slow(size_t size)
{
    void *block = real_malloc(size);
    if (pt_switches.heap)
        allocated(PT_EV_heap_malloc, block, size);
    return block;
}

PT_EXPORT_FAST void *malloc(size_t size)
{
    return pt_likely(count_fast(size)) ? real_malloc(size) : malloc_slow(size);
}

PT_NOINLINE PT_ON_ANY_STACK static void *calloc_slow(size_t count, size_t size)
{
    void *block = real_calloc(count, size);
    if (pt_switches.heap)
        allocated(PT_EV_heap_calloc, block, count * size);
    return block;
}

PT_EXPORT_FAST void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (pt_unlikely(__builtin_mul_overflow(count, size, &bytes) || !count_fast(bytes)))
        return calloc_slow(count, size);
    return real_calloc(count, size);
}

/* All but the common case: NULL, early blocks, sampled blocks, new threads, full mode. */
PT_NOINLINE PT_ON_ANY_STACK static void free_slow(void *block)
{
    if (!block || pt_boot_owns(block))
        return;
    if (pt_switches.heap)
        releasing(PT_EV_heap_free, block);
    real_free(block);
}

PT_EXPORT_FAST void free(void *block)
{
    struct pt_thread_area *area = pt_self->area;
    if (pt_unlikely(!area || pt_maybe_sampled(block))) {
        free_slow(block);
        return;
    }
    area->heap_frees++;
    real_free(block);
}

/* An allocator that brings no such function has blocks that libc's must not see: it reads what lies before them. 0 =
 * unknown. */
static size_t size_of(void *block)
{
    const int is_of_allocator = pt_next_prepare() == 0 && pt_next_are_together("malloc", "malloc_usable_size");
    return is_of_allocator ? real_malloc_usable_size(block) : 0;
}

PT_NOINLINE static void *realloc_slow(void *block, size_t size)
{
    void *moved = real_realloc(block, size);
    if (moved)
        allocated(PT_EV_heap_realloc, moved, size);
    else if (block && size) /* refused: the old block stays live, with its real size */
        allocated(PT_EV_heap_realloc, block, size_of(block));
    return moved;
}

PT_EXPORT void *realloc(void *block, size_t size)
{
    if (pt_unlikely(!pt_switches.heap && !(block && pt_boot_owns(block))))
        return real_realloc(block, size);
    if (block) {
        if (pt_unlikely(pt_boot_owns(block)))
            return move_boot_block(block, size, malloc);
        struct pt_thread_area *area = pt_self->area;
        if (pt_likely(area && !pt_maybe_sampled(block)))
            area->heap_frees++;
        else
            releasing(PT_EV_heap_realloc_free, block);
    }
    return pt_likely(size && count_fast(size)) ? real_realloc(block, size) : realloc_slow(block, size);
}

PT_EXPORT void *memalign(size_t alignment, size_t size)
{
    void *block = real_memalign(alignment, size);
    allocated(PT_EV_heap_memalign, block, size);
    return block;
}

PT_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    void *block = real_aligned_alloc(alignment, size);
    allocated(PT_EV_heap_memalign, block, size);
    return block;
}

PT_EXPORT int posix_memalign(void **ret, size_t alignment, size_t size)
{
    const int error = real_posix_memalign(ret, alignment, size);
    allocated(PT_EV_heap_memalign, error ? 0 : *ret, size);
    return error;
}

PT_EXPORT void *valloc(size_t size)
{
    void *block = real_valloc(size);
    allocated(PT_EV_heap_memalign, block, size);
    return block;
}

PT_EXPORT void *pvalloc(size_t size)
{
    void *block = real_pvalloc(size);
    allocated(PT_EV_heap_memalign, block, size);
    return block;
}

PT_EXPORT size_t malloc_usable_size(void *block)
{
    return block && pt_boot_owns(block) ? pt_boot_size(block) : real_malloc_usable_size(block);
}
