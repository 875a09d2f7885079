/* SPDX-License-Identifier: MIT
 *
 * Owns: the places in the code at which holders of locks were sampled. Threads: one. Never: keeps more than MOST of
 * them.
 */
#include "lock_holders.h"

#include "facts/cpu_code.h"
#include "facts/python/frames.h"
#include "facts/state.h"
#include "util/text/path.h"

enum { MOST = 200000 };

void pt_lock_holders_note(struct pt_lock_holders *holders, const struct pt_profile *profile, pt_u32 lock,
                          const struct pt_lock_share *share)
{
    const struct pt_cpu_state *states;
    const pt_i64 from_ns = share->from_ns, until_ns = share->until_ns;
    const struct pt_cpu_timeline *cpu =
        pt_facts_cpu(profile->facts, pt_profile_stage_of(profile, share->thread->process));
    if (!cpu->data || holders->ns.n >= MOST)
        return;
    const size_t n = pt_cpu_states(cpu, pt_facts_cpu_thread(profile->facts, share->thread), from_ns, until_ns, &states);
    for (size_t i = 0; i < n; i++) {
        const pt_i64 start_ns = states[i].start_ns > from_ns ? states[i].start_ns : from_ns;
        const pt_i64 end_ns = states[i].end_ns < until_ns ? states[i].end_ns : until_ns;
        const bool ran = states[i].flags & PT_CPU_RAN; /* an instant of a period */
        if (ran || states[i].flags & PT_CPU_HAS_STACK)
            *pt_map_at(&holders->ns, (pt_u64)lock << 32 | states[i].node) +=
                ran ? cpu->data->header.period_ns : (pt_u64)(end_ns > start_ns ? end_ns - start_ns : 0);
    }
}

/* Of the holders' samples in Python: "data.py:41 Set.load 80 %"; unknown = there are none. */
static struct pt_value python_place(const struct pt_lock_holders *holders, struct pt_profile *profile,
                                    const struct pt_cpu_view *view, pt_u32 lock)
{
    struct pt_map by_function = {0};
    struct pt_stack_frame frames[PT_STACK_FRAMES], most = {0};
    pt_u64 all_ns = 0, most_ns = 0;
    for (size_t i = 0; i < holders->ns.n; i++) {
        const struct pt_map_entry *entry = &holders->ns.entries[i];
        if (entry->key >> 32 != lock)
            continue;
        const pt_u32 n = pt_cpu_stack(view, view->frame_of[(pt_u32)entry->key], frames);
        const struct pt_stack_frame *own = pt_python_own_frame(frames, n);
        if (!own || !own->file)
            continue;
        pt_u64 *ns = pt_map_at(&by_function, (uintptr_t)own->function);
        *ns += entry->value;
        all_ns += entry->value;
        most = *ns > most_ns ? *own : most;
        most_ns = *ns > most_ns ? *ns : most_ns;
    }
    pt_map_fini(&by_function);
    return most_ns
               ? pt_text(pt_metrics_format(&profile->metrics, "%s %.0f %%",
                                           pt_python_place_text(&profile->metrics, most.file, most.line, most.function),
                                           100 * (double)most_ns / (double)all_ns))
               : pt_unknown(NULL);
}

struct pt_value pt_lock_holders_place(const struct pt_lock_holders *holders, struct pt_profile *profile, pt_u32 stage,
                                      pt_u32 lock)
{
    const struct pt_cpu_view *view = &profile->facts->views[stage];
    const struct pt_value in_python = python_place(holders, profile, view, lock);
    if (in_python.type == PT_VALUE_TEXT)
        return in_python;
    struct pt_map by_function = {0};
    pt_u64 all_ns = 0, most_ns = 0;
    pt_u32 most = 0;
    for (size_t i = 0; i < holders->ns.n; i++) {
        const struct pt_map_entry *entry = &holders->ns.entries[i];
        if (entry->key >> 32 != lock)
            continue;
        const pt_u32 frame = pt_cpu_program_frame(view, view->frame_of[(pt_u32)entry->key], NULL);
        const pt_u32 function = view->frames.items[frame].function;
        pt_u64 *ns = pt_map_at(&by_function, function);
        *ns += entry->value;
        all_ns += entry->value;
        if (function && *ns > most_ns) {
            most = function;
            most_ns = *ns;
        }
    }
    pt_map_fini(&by_function);
    if (!most)
        return pt_unknown("no sample met the holder while others waited");
    const struct pt_cpu_function *what = &view->functions.items[most];
    const double percent = 100 * (double)most_ns / (double)all_ns;
    return pt_text(what->file ? pt_metrics_format(&profile->metrics, "%s (%s:%u) %.0f %%", what->name,
                                                  pt_telling_name(what->file), what->line, percent)
                              : pt_metrics_format(&profile->metrics, "%s %.0f %%", what->name, percent));
}

void pt_lock_holders_fini(struct pt_lock_holders *holders)
{
    pt_map_fini(&holders->ns);
}
