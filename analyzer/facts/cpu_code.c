/* SPDX-License-Identifier: MIT
 *
 * Owns: the kind of code at a node. Threads: any. State: none. Never: counts libc's code as native if the interpreter
 * called it.
 */
#include "cpu_code.h"

#include <string.h>

pt_u32 pt_cpu_program_frame(const struct pt_cpu_view *view, pt_u32 frame, pt_u32 *ret_line)
{
    pt_u32 at = frame, line = 0;
    for (; at && pt_code_serves(pt_cpu_function_of(view, at)->code); at = view->frames.items[at].parent)
        line = view->frames.items[at].called_at;
    const bool is_found = at && pt_cpu_function_of(view, at)->code != PT_CODE_CUT;
    if (ret_line)
        *ret_line = is_found ? line : 0;
    return is_found ? at : frame;
}

static pt_u32 flags_of(const struct pt_cpu_function *function)
{
    const enum pt_code_kind kind = pt_code_of_function(function->name);
    const bool is_python = function->code == PT_CODE_PYTHON || function->code == PT_CODE_SCRIPT;
    const bool serves = !is_python && (kind == PT_CODE_ABOVE_ALLOCATOR || kind == PT_CODE_CARRIER ||
                                       pt_code_is_allocator(function->code, function->file, function->name));
    return pt_frame_flags(function->code) | (function->has_name ? PT_FRAME_IS_NAMED : 0) |
           (serves ? PT_FRAME_SERVES : 0);
}

struct pt_python_program pt_cpu_program_of(const struct pt_cpu_view *view, pt_u32 frame)
{
    struct pt_python_program program = {0};
    for (; frame; frame = view->frames.items[frame].parent) {
        const struct pt_cpu_function *function = pt_cpu_function_of(view, frame);
        if (function->code == PT_CODE_SCRIPT && function->file)
            pt_python_look(&program, function->name, function->file, pt_cpu_line(view, frame, 0));
    }
    return program;
}

enum pt_python_owner pt_cpu_python_owner(const struct pt_cpu_view *view, const struct pt_python_program *program,
                                         pt_u32 frame)
{
    const struct pt_cpu_function *function = pt_cpu_function_of(view, frame);
    return pt_python_owner_of(program, function->name, function->file, pt_cpu_line(view, frame, 0));
}

/* Below many native frames, of Python only the program's own: that is what users look for. */
pt_u32 pt_cpu_stack(const struct pt_cpu_view *view, pt_u32 frame, struct pt_stack_frame ret_frames[PT_STACK_FRAMES])
{
    const struct pt_python_program program = pt_cpu_program_of(view, frame);
    bool is_library[PT_STACK_FRAMES];
    pt_u32 n = 0, own = 0, called_at = 0;
    for (; frame && n < PT_STACK_FRAMES; frame = view->frames.items[frame].parent) {
        const struct pt_cpu_function *function = pt_cpu_function_of(view, frame);
        const bool is_python = pt_frame_flags(function->code) & PT_FRAME_OF_PYTHON;
        const enum pt_python_owner owner =
            is_python ? pt_cpu_python_owner(view, &program, frame) : PT_OWNER_INTERPRETER;
        const bool is_own = owner == PT_OWNER_USER;
        ret_frames[n] = (struct pt_stack_frame){.function = function->name,
                                                .file = function->file,
                                                .module = function->module,
                                                .line = pt_cpu_line(view, frame, called_at),
                                                .flags = flags_of(function) |
                                                         (is_own ? pt_python_owner_flags(owner, function->file) : 0)};
        is_library[n] = is_python && !is_own;
        own += is_own;
        called_at = view->frames.items[frame].called_at;
        n += n < PT_STACK_FRAMES_OF_ANY || is_own;
    }
    for (pt_u32 i = 0; i < n; i++)
        ret_frames[i].flags |= own && is_library[i] ? PT_FRAME_SERVES : 0;
    return n;
}

pt_u32 pt_cpu_function_at(const struct pt_cpu_view *view, pt_u32 node)
{
    pt_u32 frame = view->frame_of[node];
    while (frame && view->frames.items[frame].parent && pt_cpu_function_of(view, frame)->code == PT_CODE_KERNEL)
        frame = view->frames.items[frame].parent;
    return view->frames.items[frame].function;
}

bool pt_cpu_allocates(const struct pt_cpu_view *view, pt_u32 node)
{
    return view->frames.items[view->frame_of[node]].is_in_allocator ||
           pt_code_of_function(view->functions.items[pt_cpu_function_at(view, node)].name) == PT_CODE_MAPPING;
}

/* The kernel was entered from code that makes no system calls, as only libc does; just-in-time compilers call it, too.
 */
bool pt_cpu_is_page_fault(const struct pt_cpu_view *view, pt_u32 node)
{
    const struct pt_cpu_function *from = &view->functions.items[pt_cpu_function_at(view, node)];
    if (view->data->nodes[node].module != PT_CPU_MODULE_KERNEL || from->code == PT_CODE_KERNEL)
        return false;
    if (!strncmp(from->name, "__mem", 5) || !strncmp(from->name, "mem", 3))
        return true;
    if (from->code == PT_CODE_JIT || from->code == PT_CODE_SCRIPT)
        return true;
    return from->module && from->module[0] != '[' && !pt_code_serves(from->code) && from->code != PT_CODE_LOADER;
}

bool pt_cpu_is_tracing(const struct pt_cpu_view *view, pt_u32 node)
{
    bool is_below_libc = false;
    if (view->tracer && view->frames.items[view->frame_of[node]].is_in_cupti)
        return true; /* it works for us: a program that uses it for itself traces itself */
    for (pt_u32 frame = view->frame_of[node]; frame; frame = view->frames.items[frame].parent) {
        const struct pt_cpu_function *function = pt_cpu_function_of(view, frame);
        if (function->code == PT_CODE_TRACER)
            return !is_below_libc || !strncmp(function->name, "pt_", 3);
        if (!pt_code_serves(function->code))
            return false;
        is_below_libc |= function->code == PT_CODE_LIBC;
    }
    return false;
}
