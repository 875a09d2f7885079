/* SPDX-License-Identifier: MIT
 *
 * What the code at a place of the CPU profile does: computes in Python or not, allocates, misses a page, or traces.
 *
 * Threads: any. State: none. Never: takes libc's code for native when the interpreter called it.
 */
#include "code.h"

#include <string.h>

#include "profile/stages.h"

bool pt_gpu_code_is_tracing(const struct pt_cpu_view *view, pt_u32 node)
{
    const char *innermost = view->data->modules[view->data->nodes[node].module].path;
    if (!strncmp(pt_base_name(innermost), "libproftrace", 12))
        return true;
    for (pt_u32 frame = view->frame_of[node]; frame; frame = view->frames.items[frame].parent) {
        const struct pt_cpu_function *f = &view->functions.items[view->frames.items[frame].function];
        const char *module = f->module ? pt_base_name(f->module) : "";
        if (!strncmp(module, "libproftrace", 12))
            return !strncmp(f->name, "pt_", 3);
        if (*module && strncmp(module, "libc.so", 7) != 0 && *module != '[')
            return false;
    }
    return false;
}

static bool begins_with_one(const char *text, const char *const *prefixes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strncmp(text, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* The allocator's own functions: what a heap of many small blocks costs has no calls that are timed. */
static bool is_allocator(const char *name)
{
    static const char *const names[] = {"malloc",         "free",
                                        "calloc",         "realloc",
                                        "cfree",          "memalign",
                                        "aligned_alloc",  "posix_memalign",
                                        "sysmalloc",      "systrim",
                                        "malloc_trim",    "malloc_consolidate",
                                        "unlink_chunk",   "munmap",
                                        "munmap_chunk",   "mmap",
                                        "mmap64",         "mremap",
                                        "mremap_chunk",   "madvise",
                                        "heap_trim",      "brk",
                                        "sbrk",           "morecore",
                                        "grow_heap",      "new_heap",
                                        "alloc_perturb",  "checked_request2size",
                                        "operator new",   "operator delete",
                                        "operator new[]", "operator delete[]"};
    static const char *const families[] = {"int_malloc",   "int_free", "int_realloc",
                                           "int_memalign", "tcache_",  "arena_get"};
    name += strspn(name, "_"); /* libc's own names: __munmap, __libc_malloc, __glibc_morecore */
    name += !strncmp(name, "GI_", 3) ? 3 : 0;
    name += strspn(name, "_");
    name += !strncmp(name, "libc_", 5) ? 5 : !strncmp(name, "glibc_", 6) ? 6 : 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i])) &&
            (!name[strlen(names[i])] || strchr("(.", name[strlen(names[i])])))
            return true;
    return begins_with_one(name, families, sizeof families / sizeof *families);
}

/* Copying, allocating and reading the clock are what the caller does: libc's code is Python's when that called it. */
static bool is_python(const struct pt_cpu_view *view, pt_u32 node)
{
    static const char *const servants[] = {"libc.so",    "libc-",    "libm.so",      "libm-",
                                           "libpthread", "ld-linux", "libproftrace", "[vdso]"};
    for (; node; node = view->data->nodes[node].parent) {
        const pt_u32 module = view->data->nodes[node].module;
        const char *path = view->data->modules[module].path;
        if (module != PT_CPU_MODULE_KERNEL &&
            !begins_with_one(pt_base_name(path), servants, sizeof servants / sizeof *servants))
            return pt_cpu_is_python(path);
    }
    return false;
}

enum gpu_cause pt_gpu_code_cause(const struct pt_cpu_view *view, pt_u32 node, pt_u32 function)
{
    if (pt_gpu_code_is_tracing(view, node))
        return GPU_CAUSE_tracing;
    if (pt_cpu_view_is_page_fault(view, node))
        return GPU_CAUSE_page_in;
    if (is_allocator(view->functions.items[function].name))
        return GPU_CAUSE_heap;
    return is_python(view, node) ? GPU_CAUSE_python : GPU_CAUSE_native;
}
