/* SPDX-License-Identifier: MIT
 *
 * Owns: how a stack is written in reports. Threads: one. Never: fails; a frame without a name is module+offset.
 */
#include "stack_text.h"

#include <string.h>

#include "profile/stages.h"
#include "util/auto.h"
#include "util/str.h"

enum { MOST_FRAMES = 12 };

static void put_frame(struct pt_str *out, const struct pt_process *process, const struct pt_frame *frame,
                      pt_u64 address, pt_i64 at_ns)
{
    const struct pt_module *module = pt_process_module(process, address, at_ns);
    if (frame->function && frame->file)
        pt_str_printf(out, "%s (%s:%u)", frame->function, pt_base_name(frame->file), frame->line);
    else if (frame->function)
        pt_str_printf(out, "%s (%s)", frame->function, frame->module ? pt_base_name(frame->module) : "?");
    else if (module)
        pt_str_printf(out, "%s+0x%llx", pt_base_name(module->path), (unsigned long long)(address - module->load_bias));
    else
        pt_str_printf(out, "0x%llx", (unsigned long long)address);
}

/* What is on top of every stack and says nothing: our own hook, and the layers of allocators above malloc. */
static bool is_allocator(const struct pt_frame *frame)
{
    static const char *const prefixes[] = {
        "malloc",          "calloc",         "realloc",         "operator new",
        "posix_memalign",  "aligned_alloc",  "memalign",        "PyMem_",
        "PyObject_Malloc", "_PyMem_",        "_PyObject_",      "PyObject_Realloc",
        "PyObject_Calloc", "c10::alloc_cpu", "c10::DefaultCPU", "__gnu_cxx::new_allocator",
        "std::allocator",  "std::__",        "xmalloc",         "xcalloc",
        "xrealloc",        "g_malloc",       "g_realloc",       "g_slice_alloc",
        "std::vector",
    };
    static const char *const modules[] = {"libproftrace", "libstdc++.", "libc10.so"};
    for (size_t i = 0; frame->module && i < sizeof modules / sizeof *modules; i++)
        if (!strncmp(pt_base_name(frame->module), modules[i], strlen(modules[i])))
            return true;
    for (size_t i = 0; frame->function && i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(frame->function, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

struct pt_stack_text pt_frames_text(struct pt_metrics *metrics, struct pt_symbols *symbols, struct pt_process *process,
                                    pt_u32 stack, pt_i64 at_ns)
{
    const pt_u64 *addresses = NULL;
    const pt_u32 n = stack ? pt_process_stack(process, stack, &addresses) : 0;
    PT_AUTO(pt_str_fini) struct pt_str leaf = {0};
    PT_AUTO(pt_str_fini) struct pt_str all = {0};
    pt_u32 written = 0;
    for (pt_u32 i = 0; i < n && written < MOST_FRAMES; i++) {
        pt_u32 n_frames;
        const struct pt_frame *frames = pt_symbolize(symbols, process, addresses[i], at_ns, &n_frames);
        for (pt_u32 j = 0; j < n_frames && written < MOST_FRAMES; j++) {
            if (!written && is_allocator(&frames[j]))
                continue;
            pt_str_add(&all, written ? " < " : "");
            put_frame(&all, process, &frames[j], addresses[i], at_ns);
            if (!written++)
                pt_str_add(&leaf, pt_str_text(&all));
        }
    }
    if (!written)
        return (struct pt_stack_text){"(no stack)", "(no stack)"};
    return (struct pt_stack_text){pt_metrics_text(metrics, pt_str_text(&leaf)),
                                  pt_metrics_text(metrics, pt_str_text(&all))};
}
