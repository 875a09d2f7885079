/* SPDX-License-Identifier: MIT
 *
 * memory.c - wraps CPython's allocator of small objects (pymalloc), whose arenas malloc never sees.
 *
 * Entered by every thread that runs Python, with a GIL held, for each object. Requests that pymalloc passes on to
 * malloc are counted there, not here. An object that is to be sampled is asked for in a size that pymalloc passes on,
 * too: its release comes to our free, and that of others costs nothing. Where malloc has no more, pymalloc may still
 * have room: then the object is none that is sampled. Never replaces another's wrapper: what was there is called, and
 * later ones (tracemalloc) call us. Stays in after the interpreter's end, as objects do.
 */
#include "memory.h"

#include <stddef.h>

#include "core/options.h"
#include "core/text.h"
#include "hooks/heap/heap_sample.h"
#include "proftrace/format.h"
#include "api.h"

enum { DOMAIN_MEMORY = 1, DOMAIN_OBJECTS = 2 }; /* PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ */
#define LARGEST_SMALL 512                       /* SMALL_REQUEST_THRESHOLD: what is larger comes from malloc */

/* PyMemAllocatorEx */
struct allocator {
    void *context;
    void *(*malloc)(void *context, size_t size);
    void *(*calloc)(void *context, size_t count, size_t size);
    void *(*realloc)(void *context, void *block, size_t size);
    void (*free)(void *context, void *block);
};

static struct allocator plain; /* of both domains */

/* What pymalloc serves itself: an empty block comes from malloc, too. */
PT_ALWAYS_INLINE int is_small(size_t size)
{
    return size - 1 < LARGEST_SMALL;
}

PT_NOINLINE static void *malloc_slow(void *context, size_t size)
{
    const pt_u32 one_in = pt_object_turn(size);
    if (!one_in)
        return plain.malloc(context, size);
    void *block = plain.malloc(context, LARGEST_SMALL + 1);
    if (!block)
        return plain.malloc(context, size);
    pt_object_sample(block, size, one_in, LARGEST_SMALL + 1);
    return block;
}

static void *object_malloc(void *context, size_t size)
{
    return pt_likely(!is_small(size) || pt_object_count_fast(size)) ? plain.malloc(context, size)
                                                                    : malloc_slow(context, size);
}

PT_NOINLINE static void *calloc_slow(void *context, size_t size)
{
    const pt_u32 one_in = pt_object_turn(size);
    if (!one_in)
        return plain.calloc(context, 1, size);
    void *block = plain.calloc(context, 1, LARGEST_SMALL + 1);
    if (!block)
        return plain.calloc(context, 1, size);
    pt_object_sample(block, size, one_in, LARGEST_SMALL + 1);
    return block;
}

static void *object_calloc(void *context, size_t count, size_t size)
{
    size_t bytes;
    if (pt_likely(__builtin_mul_overflow(count, size, &bytes) || !is_small(bytes) || pt_object_count_fast(bytes)))
        return plain.calloc(context, count, size);
    return calloc_slow(context, bytes);
}

static pt_u64 frees_so_far(void)
{
    const struct pt_thread_area *area = pt_self->area;
    return area ? area->heap_frees : 0;
}

/* What malloc gave before stays malloc's, however small it becomes: that is a release there. */
PT_NOINLINE static void *realloc_slow(void *context, void *block, size_t size)
{
    const pt_u32 one_in = pt_object_turn(size);
    if (!one_in)
        return plain.realloc(context, block, size);
    const pt_u64 frees = frees_so_far();
    void *moved = plain.realloc(context, block, LARGEST_SMALL + 1);
    if (!moved)
        return plain.realloc(context, block, size);
    if (frees == frees_so_far())
        pt_object_sample(moved, size, one_in, LARGEST_SMALL + 1);
    return moved;
}

static void *object_realloc(void *context, void *block, size_t size)
{
    return pt_likely(!is_small(size) || pt_object_count_fast(size)) ? plain.realloc(context, block, size)
                                                                    : realloc_slow(context, block, size);
}

static struct allocator of_domain(int domain)
{
    struct allocator allocator;
    pt_python_api.PyMem_GetAllocator(domain, &allocator);
    return allocator;
}

/* Not malloc (PYTHONMALLOC, a build without the GIL), where each object is seen; not the debugging one, which is
 * replaced in the middle of a start; and not one that somebody wrapped. */
static int is_usual(void)
{
    const char *name = pt_python_api._PyMem_GetCurrentAllocatorName();
    const struct allocator memory = of_domain(DOMAIN_MEMORY), objects = of_domain(DOMAIN_OBJECTS);
    return name && pt_text_equal(name, "pymalloc") && memory.context == objects.context &&
           memory.malloc == objects.malloc && memory.calloc == objects.calloc && memory.realloc == objects.realloc &&
           memory.free == objects.free;
}

void pt_python_memory_start(void)
{
    static int is_in;
    if (!pt_options.python_memory || !pt_switches.heap || !pt_python_api._PyMem_GetCurrentAllocatorName ||
        !pt_python_api.PyMem_GetAllocator || !pt_python_api.PyMem_SetAllocator)
        return;
    if (!frees_so_far() && pt_switches.malloc != PT_MALLOC_HOOKED)
        return; /* whose block we would take off the counters, in which it is not, and never see it freed */
    if (!is_usual())
        return; /* ours, when the interpreter starts again */
    struct allocator ours = of_domain(DOMAIN_OBJECTS);
    if (is_in && ours.malloc != plain.malloc)
        return; /* another libpython in the same process */
    is_in = 1;
    plain = ours;
    ours.malloc = object_malloc;
    ours.calloc = object_calloc;
    ours.realloc = object_realloc;
    pt_python_api.PyMem_SetAllocator(DOMAIN_MEMORY, &ours);
    pt_python_api.PyMem_SetAllocator(DOMAIN_OBJECTS, &ours);
}
