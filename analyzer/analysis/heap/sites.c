/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of call sites and the weight of a sample. Threads: one per table. Never: resolves addresses to names.
 */
#include "sites.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_SITES = 100000 };

struct pt_sample_weight pt_sample_weigh(pt_u64 size_bytes, pt_u64 heap_sample_bytes)
{
    const double size = (double)size_bytes, interval = (double)heap_sample_bytes;
    if (!heap_sample_bytes || size_bytes >= heap_sample_bytes)
        return (struct pt_sample_weight){.allocs = 1, .bytes = size};
    const double p = -expm1(-(size + 16) / interval);
    return (struct pt_sample_weight){.allocs = 1 / p, .bytes = size / p, .variance = size * size * (1 - p) / (p * p)};
}

pt_u32 pt_heap_site_of(struct pt_heap_sites *sites, struct pt_process *process, pt_u32 stage, pt_u32 stack,
                       pt_i64 at_ns)
{
    if (sites->n >= MAX_SITES && !pt_map_find(&sites->by_stack, (pt_u64)process->index << 32 | stack))
        stack = 0;
    pt_u64 *slot = pt_map_at(&sites->by_stack, (pt_u64)process->index << 32 | stack);
    if (!*slot) {
        pt_vec_push(sites, ((struct pt_heap_site){.process = process, .stack = stack, .stage = stage, .at_ns = at_ns}));
        *slot = sites->n;
    }
    return (pt_u32)(*slot - 1);
}

void pt_heap_sites_fini(struct pt_heap_sites *sites)
{
    free(sites->items);
    pt_map_fini(&sites->by_stack);
}
