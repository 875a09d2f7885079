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
#include "level.h"

enum { PT_SITE_BUCKETS = 128, PT_LEVEL_BUCKETS_OF_SITE = PT_LEVEL_BUCKETS / PT_SITE_BUCKETS };

/* In place of a size class: small objects that Python's own allocator gave. Of them there are no exact counts. */
enum { PT_SITE_OF_OBJECTS = PT_HEAP_CLASSES };

/* In place of a stage, stack and place: all sites of a size class of a process, of which samples have no stack because
 * others stand for them. No report shows it. */
#define PT_SITE_OF_CLASS UINT32_MAX

struct pt_sample_weight {
    double allocs, bytes;
    double variance; /* of bytes */
};
struct pt_sample_weight pt_sample_weigh(pt_u64 size_bytes, pt_u64 heap_sample_bytes);

/* Blocks of one size class that one stack of a process allocated. */
struct pt_heap_site {
    struct pt_process *process;
    pt_u32 stack, python; /* native, and Python's; 0 = not taken */
    pt_u32 stage;
    pt_u32 size_class; /* or PT_SITE_OF_OBJECTS */
    pt_i64 at_ns;      /* of a sample: which modules were mapped then */
    pt_u64 samples;
    double allocs, bytes, live_bytes, live_allocs, churn_allocs, churn_bytes;
    double growth_bytes;            /* while the memory of its process grew; 0 until that is known */
    double peak_bytes;              /* that lived when the memory of its process was at its peak */
    pt_u32 peak;                    /* of which peak so far that is */
    double growing_bytes;           /* `bytes`, where those of its stacks become larger; 0 until that is known */
    pt_u32 n_ups, n_downs;          /* of its samples: larger, or smaller, than the one before of these stacks */
    pt_u32 trend;                   /* index of that of its stacks */
    pt_u32 next;                    /* index of the next one of the process, from the last one the first one */
    bool is_shared;                 /* of whatever there was no room for: sums alone, of no process's own life */
    float live_at[PT_SITE_BUCKETS]; /* bytes, at the end of each bucket of the process's life */
    pt_u32 bucket;                  /* the one that is not over */
};

/* How the size classes of blocks follow each other that the same stacks allocate: of a thinned sample no more is known
 * of its size. */
struct pt_heap_trend {
    pt_u32 last_class, n_ups, n_downs;
    bool has_last;
};

struct pt_heap_sites {
    PT_VEC(struct pt_heap_site);
    struct {
        PT_VEC(struct pt_heap_trend);
    } trends;
    struct pt_map by_pair;  /* process and number of the pair of stacks -> index in trends, plus 1 */
    struct pt_map by_stack; /* process, number of the pair of stacks, size class -> index, plus 1 */
    struct pt_map pairs;    /* native stack and Python's -> number */
    struct pt_map last_of;  /* process -> index of the last one, plus 1 */
    struct pt_map shared;   /* stage, size class -> index, plus 1 */
};

/* Where there are too many, the samples of a stage and size class share one. */
pt_u32 pt_heap_site_of(struct pt_heap_sites *sites, const struct pt_heap_site *wanted);
void pt_heap_sites_fini(struct pt_heap_sites *sites);

/* The next site of a process, NULL = the first one, in the order in which they came; NULL = there are no more. */
struct pt_heap_site *pt_heap_site_next(const struct pt_heap_sites *sites, const struct pt_process *process,
                                       const struct pt_heap_site *before);

/* What makes the estimates of all sites of a size class agree with the exact count of its allocations, given what the
 * samples of each class stand for. */
double pt_heap_site_scale(const struct pt_heap_site *site, const double sampled_of_class[PT_HEAP_CLASSES]);
void pt_heap_site_calibrate(struct pt_heap_site *site, double scale);

/* Another block of a site, of its size class. */
void pt_heap_trend_add(struct pt_heap_sites *sites, struct pt_heap_site *site);
/* Whether blocks become larger, from epoch to epoch anew if need be. */
bool pt_heap_trend_grows(const struct pt_heap_trend *trend);

/* Before a change, and after the last one: what lives has lived since the latest peak of the process. */
void pt_heap_site_at_peak(struct pt_heap_site *site, pt_u32 latest_peak);
/* Blocks of the site came (or went, below 0) in a bucket of the process's level. */
void pt_heap_site_add(struct pt_heap_site *site, pt_u32 level_bucket, double allocs, double bytes);
/* What lived of the site when a bucket of the process's level ended, or a bucket of its own before that; after the last
 * event. */
double pt_heap_site_live(const struct pt_heap_site *site, pt_u32 level_bucket);

#endif
