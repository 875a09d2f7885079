/* SPDX-License-Identifier: MIT
 *
 * Owns: how a stack is written in reports. Threads: one. Never: fails; a frame without a name is module+offset.
 */
#include "stack_text.h"

#include <string.h>

#include "facts/code_kind.h"
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
    const enum pt_code_kind file = pt_code_of_file(frame->module);
    const enum pt_code_kind function = frame->function ? pt_code_of_function(frame->function) : PT_CODE_OTHER;
    return file == PT_CODE_TRACER || file == PT_CODE_ABOVE_ALLOCATOR || function == PT_CODE_ALLOCATOR ||
           function == PT_CODE_ABOVE_ALLOCATOR || function == PT_CODE_CARRIER;
}

/* What called code without a name, where that says what it is for: as in tables of functions. */
struct nearest {
    const struct pt_frame *caller, *carrier;
    bool is_over;
};

static void look_for_name(struct nearest *nearest, const struct pt_frame *own, const struct pt_frame *frame)
{
    if (nearest->is_over || frame == own || !frame->function || !frame->module || !own->module)
        return;
    const bool is_same_file = !strcmp(frame->module, own->module);
    const enum pt_code_hint hint = is_allocator(frame)
                                       ? PT_CODE_CARRIES
                                       : pt_code_hint_of(frame->function, pt_code_of_file(frame->module), is_same_file);
    if (hint == PT_CODE_CARRIES && !nearest->carrier)
        nearest->carrier = frame;
    nearest->is_over = hint != PT_CODE_CARRIES;
    nearest->caller = hint == PT_CODE_SAYS ? frame : NULL;
}

static void put_leaf(struct pt_str *leaf, const struct pt_frame *own, const struct nearest *nearest)
{
    const struct pt_frame *caller = nearest->caller ? nearest->caller : nearest->carrier;
    if (!own || own->function || !caller)
        return;
    pt_str_clear(leaf);
    pt_str_printf(leaf, "%.*s > [%s]", pt_code_plain_length(caller->function), caller->function,
                  pt_base_name(own->module));
}

struct pt_stack_text pt_frames_text(struct pt_metrics *metrics, struct pt_symbols *symbols, struct pt_process *process,
                                    pt_u32 stack, pt_i64 at_ns)
{
    const pt_u64 *addresses = NULL;
    const pt_u32 n = stack ? pt_process_stack(process, stack, &addresses) : 0;
    PT_AUTO(pt_str_fini) struct pt_str leaf = {0};
    PT_AUTO(pt_str_fini) struct pt_str all = {0};
    const struct pt_frame *own = NULL;
    struct nearest nearest = {0};
    pt_u32 written = 0;
    for (pt_u32 i = 0; i < n && written < MOST_FRAMES; i++) {
        pt_u32 n_frames;
        const struct pt_frame *frames = pt_symbolize(symbols, process, addresses[i], at_ns, &n_frames);
        for (pt_u32 j = 0; j < n_frames && written < MOST_FRAMES; j++) {
            if (!written && is_allocator(&frames[j]))
                continue;
            pt_str_add(&all, written ? " < " : "");
            put_frame(&all, process, &frames[j], addresses[i], at_ns);
            if (!written++) {
                pt_str_add(&leaf, pt_str_text(&all));
                own = &frames[j];
            }
            look_for_name(&nearest, own, &frames[j]);
        }
    }
    put_leaf(&leaf, own, &nearest);
    if (!written)
        return (struct pt_stack_text){"(no stack)", "(no stack)"};
    return (struct pt_stack_text){pt_metrics_text(metrics, pt_str_text(&leaf)),
                                  pt_metrics_text(metrics, pt_str_text(&all))};
}

static struct pt_stack_frame frame_of(const struct pt_process *process, const struct pt_frame *frame, pt_u64 address,
                                      pt_i64 at_ns)
{
    const struct pt_module *module = pt_process_module(process, address, at_ns);
    const char *path = frame->module ? frame->module : module ? module->path : NULL;
    const pt_u32 flags = pt_frame_flags(pt_code_of_file(path)) | (is_allocator(frame) ? PT_FRAME_SERVES : 0u);
    return (struct pt_stack_frame){.function = frame->function ? frame->function : "[unknown]",
                                   .file = frame->file,
                                   .module = path,
                                   .line = frame->line,
                                   .flags = flags | (frame->function ? PT_FRAME_IS_NAMED : 0u)};
}

pt_u32 pt_heap_frames(struct pt_symbols *symbols, struct pt_process *process, pt_u32 stack, pt_i64 at_ns,
                      struct pt_stack_frame ret_frames[PT_STACK_FRAMES])
{
    const pt_u64 *addresses = NULL;
    const pt_u32 n = stack ? pt_process_stack(process, stack, &addresses) : 0;
    pt_u32 found = 0;
    for (pt_u32 i = 0; i < n && found < PT_STACK_FRAMES; i++) {
        pt_u32 n_frames;
        const struct pt_frame *frames = pt_symbolize(symbols, process, addresses[i], at_ns, &n_frames);
        for (pt_u32 j = 0; j < n_frames && found < PT_STACK_FRAMES; j++)
            if (found || !is_allocator(&frames[j]))
                ret_frames[found++] = frame_of(process, &frames[j], addresses[i], at_ns);
    }
    return found;
}
