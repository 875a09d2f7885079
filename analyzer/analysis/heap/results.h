/* SPDX-License-Identifier: MIT
 *
 * heap/results.h - from what the heap analysis gathered to metrics and the table of call sites.
 */
#ifndef PT_ANALYSIS_HEAP_RESULTS_H
#define PT_ANALYSIS_HEAP_RESULTS_H

#include "analysis/analysis.h"
#include "facts/block_map.h"
#include "level.h"
#include "sites.h"

/* A block that lived no longer than this is churn: reusing one block would have done. */
#define PT_CHURN_NS 10000000ll

struct pt_heap_churn {
    double allocs, bytes, cost_s; /* cost_s: estimated, an upper bound */
    double mapping_s;             /* of cost_s: pages that are mapped anew for each block */
};

struct pt_heap_process {
    struct pt_heap_level level;
    struct pt_block_map blocks, samples;
    struct pt_heap_churn churn;
    pt_u64 seen, unknown_frees;
    pt_u64 not_followed; /* blocks and samples that the tables had no room for: the level is a lower bound */
    pt_u64 samples_seen, samples_lost;
    double sampled_allocs, sampled_bytes, lost_bytes;
};

void pt_heap_results(struct pt_profile *profile, struct pt_heap_process *processes, struct pt_heap_sites *sites);

#endif
