/* SPDX-License-Identifier: MIT
 *
 * Owns: how a stack is written in reports. Threads: one. Never: fails; a frame without a name is module+offset.
 */
#include "stack_text.h"

#include <string.h>

#include "facts/code_kind.h"
#include "facts/python/frames.h"
#include "facts/state.h"
#include "util/auto.h"
#include "util/str.h"
#include "util/text/path.h"

enum { MOST_FRAMES = 12 };

static void put_frame(struct pt_str *out, const struct pt_process *process, const struct pt_frame *frame,
                      pt_u64 address, pt_i64 at_ns)
{
    const struct pt_module *module = pt_process_module(process, address, at_ns);
    if (frame->function && frame->file)
        pt_str_printf(out, "%s (%s:%u)", frame->function, pt_base_name(frame->file), frame->line);
    else if (frame->function)
        pt_str_printf(out, "%s (%s)", frame->function, frame->module ? pt_base_name(frame->module) : "?");
    else if (module) {
        pt_str_printf(out, "%s+0x%llx", pt_base_name(module->path), (unsigned long long)(address - module->load_bias));
        if (frame->near)
            pt_str_printf(out, " near %.*s", pt_code_plain_length(frame->near), frame->near);
    } else
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

/* "data.py:41 Set.load < train.py:9 <module>": the program's own code; NULL = none was recorded. */
static const char *python_text(struct pt_profile *profile, const struct pt_heap_site *site, const char **ret_leaf)
{
    struct pt_stack_frame frames[PT_STACK_FRAMES];
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const pt_u32 n = pt_python_stack(site->process, site->python, &profile->stacks.texts, frames);
    for (pt_u32 i = 0; i < n; i++) {
        if (frames[i].flags & PT_FRAME_SERVES)
            continue;
        pt_str_printf(&text, "%s%s", text.n ? " < " : "",
                      pt_python_place_text(&profile->metrics, frames[i].file, frames[i].line, frames[i].function));
        if (!*ret_leaf)
            *ret_leaf = pt_metrics_text(&profile->metrics, pt_str_text(&text));
    }
    return text.n ? pt_metrics_text(&profile->metrics, pt_str_text(&text)) : NULL;
}

static struct pt_stack_text native_text(struct pt_profile *profile, const struct pt_heap_site *site)
{
    const pt_u64 *addresses = NULL;
    const pt_u32 n = site->stack ? pt_process_stack(site->process, site->stack, &addresses) : 0;
    PT_AUTO(pt_str_fini) struct pt_str leaf = {0};
    PT_AUTO(pt_str_fini) struct pt_str all = {0};
    const struct pt_frame *own = NULL;
    struct nearest nearest = {0};
    pt_u32 written = 0;
    for (pt_u32 i = 0; i < n && written < MOST_FRAMES; i++) {
        pt_u32 n_frames;
        const struct pt_frame *frames =
            pt_symbolize(profile->facts->symbols, site->process, addresses[i], site->at_ns, &n_frames);
        for (pt_u32 j = 0; j < n_frames && written < MOST_FRAMES; j++) {
            if (!written && is_allocator(&frames[j]))
                continue;
            pt_str_add(&all, written ? " < " : "");
            put_frame(&all, site->process, &frames[j], addresses[i], site->at_ns);
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
    return (struct pt_stack_text){pt_metrics_text(&profile->metrics, pt_str_text(&leaf)),
                                  pt_metrics_text(&profile->metrics, pt_str_text(&all))};
}

struct pt_stack_text pt_heap_stack_text(struct pt_profile *profile, const struct pt_heap_site *site)
{
    const struct pt_stack_text native = native_text(profile, site);
    const char *leaf = NULL, *python = python_text(profile, site, &leaf);
    if (!python)
        return native;
    return (struct pt_stack_text){
        leaf, site->stack ? pt_metrics_format(&profile->metrics, "%s; native: %s", python, native.stack) : python};
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

pt_u32 pt_heap_frames(struct pt_profile *profile, const struct pt_heap_site *site,
                      struct pt_stack_frame ret_frames[PT_STACK_FRAMES])
{
    const pt_u64 *addresses = NULL;
    const pt_u32 n = site->stack ? pt_process_stack(site->process, site->stack, &addresses) : 0;
    const pt_u32 of_python = pt_python_stack(site->process, site->python, &profile->stacks.texts, ret_frames);
    pt_u32 found = of_python;
    for (pt_u32 i = 0; i < n && found < PT_STACK_FRAMES; i++) {
        pt_u32 n_frames;
        const struct pt_frame *frames =
            pt_symbolize(profile->facts->symbols, site->process, addresses[i], site->at_ns, &n_frames);
        for (pt_u32 j = 0; j < n_frames && found < PT_STACK_FRAMES; j++)
            if (found > of_python || !is_allocator(&frames[j]))
                ret_frames[found++] = frame_of(site->process, &frames[j], addresses[i], site->at_ns);
    }
    return found;
}
