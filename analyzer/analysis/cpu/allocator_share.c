/* SPDX-License-Identifier: MIT
 *
 * Owns: the samples that lie in an allocator: in one of its functions, or in what these call, the kernel's work for it
 * and ours around it among that. Threads: one. Never: counts the first touch of new memory, which is the program's.
 */
#include "allocator_share.h"

#include <math.h>

#include "facts/cpu_code.h"

/* Of 95 % of runs, with some room. */
#define SPREAD 2.0

static void set(struct pt_profile *profile, pt_u32 stage, struct pt_value own, struct pt_value most)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_metrics_set(&profile->metrics, scope, "cpu.allocator_s", own);
    pt_metrics_set(&profile->metrics, scope, "cpu.allocator_most_s", most);
}

/* The cost of recording is included in the bound, because a run without these calls is recorded faster; but it is not
 * the program's time.
 */
void pt_allocator(struct pt_profile *profile, pt_u32 stage, const struct pt_cpu_view *view)
{
    const struct pt_cpu_data *data = view->data;
    double all_s = 0, variance = 0, own_s = 0;
    const bool is_all_of_it = data->header.flags & PT_CPU_SAMPLED && !(data->header.flags & PT_CPU_USER_ONLY);
    if (!data->totals.samples || !is_all_of_it) {
        const struct pt_value none =
            pt_unknown(data->header.flags & PT_CPU_USER_ONLY ? "the kernel's share could not be sampled"
                                                             : "no CPU samples were taken");
        set(profile, stage, none, none);
        return;
    }
    for (size_t i = 0; i < data->n_counts; i++) {
        const struct pt_cpu_count *count = &data->counts[i];
        const double one_s = view->shared_s[count->thread], s = (double)count->samples * one_s;
        if (!view->frames.items[view->frame_of[count->node]].is_in_allocator)
            continue;
        all_s += s;
        variance += s * one_s;
        own_s += pt_cpu_is_tracing(view, count->node) ? 0 : s;
    }
    set(profile, stage, pt_real(own_s), pt_real(all_s + SPREAD * sqrt(variance)));
}
