/* SPDX-License-Identifier: MIT
 *
 * heap/sites.h - heap samples by call site, and how much a sample represents.
 *
 * The sampler takes an allocation of s bytes with probability p = 1 - exp(-(s + 16) / S), S being heap_sample_bytes on
 * average, and every one of S bytes or more. So a sample represents 1 / p allocations, s / p bytes, without bias.
 */
#ifndef PT_ANALYSIS_HEAP_SITES_H
#define PT_ANALYSIS_HEAP_SITES_H

#include "model/session.h"
#include "util/map.h"
#include "util/vec.h"

struct pt_sample_weight {
    double allocs, bytes;
    double variance; /* of bytes */
};
struct pt_sample_weight pt_sample_weigh(pt_u64 size_bytes, pt_u64 heap_sample_bytes);

struct pt_heap_site {
    struct pt_process *process; /* the first one that allocated here */
    pt_u32 stack;
    pt_u32 stage;
    pt_i64 at_ns; /* of a sample: which modules were mapped then */
    pt_u64 samples;
    double allocs, bytes, live_bytes, live_allocs, churn_allocs, churn_bytes;
    double peak_bytes; /* the most that were live at once */
};

struct pt_heap_sites {
    PT_VEC(struct pt_heap_site);
    struct pt_map by_stack; /* process, stack -> index, plus 1 */
};

pt_u32 pt_heap_site_of(struct pt_heap_sites *sites, struct pt_process *process, pt_u32 stage, pt_u32 stack,
                       pt_i64 at_ns);
void pt_heap_sites_fini(struct pt_heap_sites *sites);

#endif
