/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of call sites and the weight of a sample. Threads: one per table. Never: resolves addresses to names.
 */
#include "sites.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_SITES = 100000, MAX_SHARED = 10000 };

struct pt_sample_weight pt_sample_weigh(pt_u64 size_bytes, pt_u64 heap_sample_bytes)
{
    const double size = (double)size_bytes, interval = (double)heap_sample_bytes;
    if (!heap_sample_bytes || size_bytes >= heap_sample_bytes)
        return (struct pt_sample_weight){.allocs = 1, .bytes = size};
    const double p = -expm1(-(size + 16) / interval);
    return (struct pt_sample_weight){.allocs = 1 / p, .bytes = size / p, .variance = size * size * (1 - p) / (p * p)};
}

static pt_u64 stacks_of(const struct pt_heap_site *site)
{
    return (pt_u64)site->python << 32 | site->stack;
}

/* Few of the pairs that could be there are. */
static pt_u64 key_of(const struct pt_heap_site *site, pt_u64 pair)
{
    return (pt_u64)site->process->index << 40 | pair | (pt_u64)site->size_class << 32;
}

static pt_u64 pair_of(struct pt_heap_sites *sites, const struct pt_heap_site *site)
{
    pt_u64 *pair = pt_map_at(&sites->pairs, stacks_of(site));
    *pair = *pair ? *pair : sites->pairs.n;
    return *pair;
}

static pt_u32 trend_of(struct pt_heap_sites *sites, const struct pt_heap_site *site, pt_u64 pair)
{
    pt_u64 *slot = pt_map_at(&sites->by_pair, (pt_u64)site->process->index << 40 | pair);
    if (!*slot) {
        pt_vec_push(&sites->trends, ((struct pt_heap_trend){0}));
        *slot = sites->trends.n;
    }
    return (pt_u32)(*slot - 1);
}

/* Behind the last one of its process. */
static void chain(struct pt_heap_sites *sites, pt_u32 index)
{
    struct pt_heap_site *site = &sites->items[index];
    pt_u64 *last = pt_map_at(&sites->last_of, site->process->index);
    site->next = *last ? sites->items[*last - 1].next : index;
    if (*last)
        sites->items[*last - 1].next = index;
    *last = index + 1;
}

struct pt_heap_site *pt_heap_site_next(const struct pt_heap_sites *sites, const struct pt_process *process,
                                       const struct pt_heap_site *before)
{
    const pt_u64 *last = pt_map_find(&sites->last_of, process->index);
    if (!last || before == &sites->items[*last - 1])
        return NULL;
    return &sites->items[before ? before->next : sites->items[*last - 1].next];
}

/* Stages may be as many as processes: what is beyond their limit is of none. */
static pt_u32 shared_of(struct pt_heap_sites *sites, const struct pt_heap_site *wanted)
{
    const pt_u64 *known = pt_map_find(&sites->shared, (pt_u64)wanted->stage << 32 | wanted->size_class);
    const pt_u32 stage = known || sites->shared.n < MAX_SHARED ? wanted->stage : PT_SITE_OF_CLASS;
    pt_u64 *slot = pt_map_at(&sites->shared, (pt_u64)stage << 32 | wanted->size_class);
    if (!*slot) {
        pt_vec_push(
            sites,
            ((struct pt_heap_site){
                .process = wanted->process, .stage = stage, .size_class = wanted->size_class, .is_shared = true}));
        *slot = sites->n;
    }
    return (pt_u32)(*slot - 1);
}

pt_u32 pt_heap_site_of(struct pt_heap_sites *sites, const struct pt_heap_site *wanted)
{
    if (sites->n >= MAX_SITES) {
        const pt_u64 *pair = pt_map_find(&sites->pairs, stacks_of(wanted));
        const pt_u64 *known = pair ? pt_map_find(&sites->by_stack, key_of(wanted, *pair)) : NULL;
        return known ? (pt_u32)(*known - 1) : shared_of(sites, wanted);
    }
    const pt_u64 pair = pair_of(sites, wanted);
    pt_u64 *slot = pt_map_at(&sites->by_stack, key_of(wanted, pair));
    if (!*slot) {
        struct pt_heap_site site = *wanted;
        site.trend = trend_of(sites, &site, pair);
        pt_vec_push(sites, site);
        *slot = sites->n;
        chain(sites, (pt_u32)sites->n - 1);
    }
    return (pt_u32)(*slot - 1);
}

void pt_heap_sites_fini(struct pt_heap_sites *sites)
{
    free(sites->items);
    pt_map_fini(&sites->by_stack);
    pt_map_fini(&sites->pairs);
    free(sites->trends.items);
    pt_map_fini(&sites->by_pair);
    pt_map_fini(&sites->last_of);
    pt_map_fini(&sites->shared);
}

double pt_heap_site_scale(const struct pt_heap_site *site, const double sampled_of_class[PT_HEAP_CLASSES])
{
    if (site->size_class == PT_SITE_OF_OBJECTS || site->is_shared)
        return 1;
    const pt_u64 exact = site->process->heap->classes[site->size_class].count;
    const double sampled = sampled_of_class[site->size_class];
    /* Counters that are missing, or older than the last samples. */
    return sampled > 0 && exact >= site->samples ? (double)exact / sampled : 1;
}

void pt_heap_site_calibrate(struct pt_heap_site *site, double scale)
{
    site->allocs *= scale;
    site->bytes *= scale;
    site->live_allocs *= scale;
    site->live_bytes *= scale;
    site->peak_bytes *= scale;
    site->churn_allocs *= scale;
    site->churn_bytes *= scale;
    site->growth_bytes *= scale;
}

void pt_heap_trend_add(struct pt_heap_sites *sites, struct pt_heap_site *site)
{
    if (site->is_shared)
        return;
    struct pt_heap_trend *trend = &sites->trends.items[site->trend];
    const pt_u32 is_up = trend->has_last && site->size_class > trend->last_class;
    const pt_u32 is_down = trend->has_last && site->size_class < trend->last_class;
    trend->n_ups += is_up;
    trend->n_downs += is_down;
    site->n_ups += is_up;
    site->n_downs += is_down;
    trend->last_class = site->size_class;
    trend->has_last = true;
}

/* Sizes that come at random go down as often as up. */
bool pt_heap_trend_grows(const struct pt_heap_trend *trend)
{
    return trend->n_ups && 2 * trend->n_downs <= trend->n_ups;
}

void pt_heap_site_at_peak(struct pt_heap_site *site, pt_u32 latest_peak)
{
    if (site->peak == latest_peak || site->is_shared)
        return;
    site->peak = latest_peak;
    site->peak_bytes = site->live_bytes;
}

void pt_heap_site_add(struct pt_heap_site *site, pt_u32 level_bucket, double allocs, double bytes)
{
    for (; !site->is_shared && site->bucket < level_bucket / PT_LEVEL_BUCKETS_OF_SITE; site->bucket++)
        site->live_at[site->bucket] = (float)site->live_bytes;
    site->live_allocs += allocs;
    site->live_bytes += bytes;
}

double pt_heap_site_live(const struct pt_heap_site *site, pt_u32 level_bucket)
{
    const pt_u32 over = (level_bucket + 1) / PT_LEVEL_BUCKETS_OF_SITE;
    if (!over)
        return 0;
    return over - 1 < site->bucket ? (double)site->live_at[over - 1] : site->live_bytes;
}
