/* SPDX-License-Identifier: MIT
 *
 * Owns: how memory grew, from levels over time. Threads: one, after the last event. Never: looks at what is live when a
 * process ends: who gives all back on the way out has a leak, too.
 */
#include "growth.h"

enum { FEWEST_IMPORTS = 3, IMPORT_SHARE = 100 };

/* The first bucket after the imports of a Python program, which fill memory once: the modules that it opens at its
 * start, not those that it adds now and then. */
static pt_u32 after_imports(const struct pt_heap_process *p)
{
    pt_u32 all = 0, after = 0;
    for (int i = 0; i < PT_LEVEL_BUCKETS; i++)
        all += p->imports[i];
    for (pt_u32 i = 0; i < PT_LEVEL_BUCKETS; i++)
        if (p->imports[i] >= FEWEST_IMPORTS && p->imports[i] * IMPORT_SHARE >= all)
            after = i + 1;
    return after;
}

struct pt_heap_growth pt_heap_growth_of(struct pt_heap_process *p, const struct pt_process *process)
{
    double floor_bytes[PT_LEVEL_BUCKETS];
    struct pt_heap_growth growth = {0};
    pt_heap_level_next_bucket(&p->level, process->end_ns);
    pt_heap_level_next_bucket(&p->arenas, process->end_ns);
    for (int i = 0; i < PT_LEVEL_BUCKETS; i++)
        floor_bytes[i] = p->level.floor_bytes[i] + p->arenas.floor_bytes[i];
    growth.largest_bytes = pt_heap_largest_rise(p->level.floor_bytes);
    growth.is_steady = pt_heap_steady_rise(floor_bytes, after_imports(p), &growth.rise);
    if (!growth.is_steady)
        return growth;
    const pt_u32 from = growth.rise.from, to = growth.rise.to;
    growth.python_bytes = p->arenas.floor_bytes[to] - p->arenas.floor_bytes[from];
    growth.spread = pt_heap_rise_spread(floor_bytes, &growth.rise);
    growth.length_s = (double)((to - from) * p->level.bucket_ns) / 1e9;
    return growth;
}

void pt_heap_growth_of_sites(struct pt_heap_process *p, const struct pt_process *process, struct pt_heap_sites *sites)
{
    struct pt_heap_growth *growth = &p->growth;
    double seen_bytes = 0, exact_bytes = 0;
    struct pt_heap_site *site = NULL;
    while ((site = pt_heap_site_next(sites, process, site))) {
        site->growth_bytes = pt_heap_site_live(site, growth->rise.to) - pt_heap_site_live(site, growth->rise.from);
        if (site->size_class == PT_SITE_OF_OBJECTS) {
            growth->objects_bytes += site->growth_bytes > 0 ? site->growth_bytes : 0;
            continue;
        }
        const bool is_class = site->stage == PT_SITE_OF_CLASS;
        if (is_class == p->is_thinned) {
            seen_bytes += site->growth_bytes;
            exact_bytes += site->growth_bytes * pt_heap_site_scale(site, p->all_of_class);
        }
        const double share = p->is_thinned ? pt_heap_site_scale(site, p->sampled_of_class) : 1;
        growth->sites_bytes += !is_class && site->growth_bytes > 0 ? site->growth_bytes * share : 0;
    }
    const double heap_bytes = growth->rise.bytes - growth->python_bytes;
    if (process->heap_mode != PT_HEAP_FULL && seen_bytes > 0 && exact_bytes > 0 && heap_bytes > 0) {
        const double more_bytes = heap_bytes * (exact_bytes / seen_bytes - 1);
        growth->rise.bytes += more_bytes;
        growth->largest_bytes += more_bytes;
        p->level.peak_bytes += more_bytes;
    }
    growth->share_percent = 100 * growth->rise.bytes / (p->level.peak_bytes + p->arenas.peak_bytes);
}
