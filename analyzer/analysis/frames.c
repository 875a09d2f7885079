/* SPDX-License-Identifier: MIT
 *
 * Owns: how a stack is written in reports. Threads: one. Never: fails; a frame without a name is module+offset.
 */
#include "frames.h"

#include <string.h>

#include "../util/auto.h"
#include "../util/str.h"
#include "stages.h"

enum { MOST_FRAMES = 12 };

static void frame_text(struct pt_str *out, const struct pt_process *process, pt_u64 address, pt_i64 at_ns)
{
    const struct pt_module *module = pt_process_module(process, address, at_ns);
    if (module)
        pt_str_printf(out, "%s+0x%llx", pt_base_name(module->path), (unsigned long long)(address - module->load_bias));
    else
        pt_str_printf(out, "0x%llx", (unsigned long long)address);
}

/* Our own hook and the allocator are on top of every stack and say nothing. */
static bool is_allocator(const struct pt_process *process, pt_u64 address, pt_i64 at_ns)
{
    const struct pt_module *module = pt_process_module(process, address, at_ns);
    return module && module->path && !strncmp(pt_base_name(module->path), "libproftrace", strlen("libproftrace"));
}

static pt_u32 first_frame(const struct pt_process *process, const pt_u64 *frames, pt_u32 n, pt_i64 at_ns)
{
    pt_u32 i = 0;
    while (i + 1 < n && is_allocator(process, frames[i], at_ns))
        i++;
    return i;
}

static const char *text_of(struct pt_metrics *metrics, struct pt_process *process, pt_u32 stack, pt_i64 at_ns,
                           pt_u32 most)
{
    const pt_u64 *frames = NULL;
    const pt_u32 n = stack ? pt_process_stack(process, stack, &frames) : 0;
    if (!n)
        return "(no stack)";
    PT_AUTO(pt_str_fini) struct pt_str out = {0};
    const pt_u32 first = first_frame(process, frames, n, at_ns);
    for (pt_u32 i = first; i < n && i < first + most; i++) {
        if (i > first)
            pt_str_add(&out, " < ");
        frame_text(&out, process, frames[i], at_ns);
    }
    return pt_metrics_text(metrics, pt_str_text(&out));
}

const char *pt_frames_leaf(struct pt_metrics *metrics, struct pt_process *process, pt_u32 stack, pt_i64 at_ns)
{
    return text_of(metrics, process, stack, at_ns, 1);
}

const char *pt_frames_text(struct pt_metrics *metrics, struct pt_process *process, pt_u32 stack, pt_i64 at_ns)
{
    return text_of(metrics, process, stack, at_ns, MOST_FRAMES);
}
