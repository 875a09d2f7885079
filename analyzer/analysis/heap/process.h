/* SPDX-License-Identifier: MIT
 *
 * heap/process.h - what is known of the heap of one process while its events pass, and at its end how it grew.
 */
#ifndef PT_ANALYSIS_HEAP_PROCESS_H
#define PT_ANALYSIS_HEAP_PROCESS_H

#include "facts/block_map.h"
#include "level.h"
#include "peak_phase.h"
#include "remap.h"
#include "sites.h"

/* A block that lived no longer than this is churn: reusing one block would have done. */
#define PT_CHURN_NS 10000000ll

struct pt_heap_churn {
    double allocs, bytes, cost_s; /* cost_s: estimated, an upper bound */
    double mapping_s;             /* of cost_s: pages that are mapped anew for each block */
};

/* Of what malloc gave and of the arenas of Python's objects. */
struct pt_heap_growth {
    double largest_bytes; /* of malloc's blocks, between any two moments */
    bool is_steady;       /* the rest is of a rise that a leak makes, else 0 */
    struct pt_heap_rise rise;
    double python_bytes;  /* of it, in arenas */
    double sites_bytes;   /* of it, of call sites that were sampled: blocks of malloc */
    double objects_bytes; /* and objects in arenas */
    double share_percent; /* of the most that was live */
    double length_s;
    double spread; /* of the rate, as a share of it: half of its 95 % interval */
};

struct pt_heap_process {
    struct pt_heap_level level;
    struct pt_heap_level arenas; /* of Python's small objects, which malloc does not see */
    double most_bytes;           /* of both together, so far */
    pt_u32 n_peaks;              /* times that this rose */
    bool has_arenas;
    pt_u16 imports[PT_LEVEL_BUCKETS]; /* files of Python's code that were opened in each bucket of the level */
    double arena_bytes;               /* mapped for them in all */
    struct pt_heap_remap remap;
    struct pt_block_map blocks, samples;
    struct pt_heap_churn churn;
    pt_u64 seen;
    pt_u64 not_followed; /* blocks and samples that the tables had no room for: the level is a lower bound */
    pt_u64 samples_seen;
    double sampled_allocs, sampled_bytes, lost_bytes;
    struct pt_heap_growth growth;
    struct pt_peak_phase phase;
    /* Allocations that samples stand for, by size class: all of them, and those of which it is known where they were
     * made. */
    double all_of_class[PT_HEAP_CLASSES], sampled_of_class[PT_HEAP_CLASSES];
    bool is_thinned; /* of some it is not known: sites of whole classes are kept, too */
};

/* Of a run: most of a hundred thousand short processes have no event of the heap, and none of these. */
struct pt_heap_processes {
    struct pt_heap_process **items; /* by index; NULL = none was made */
    struct pt_heap_process none;    /* stands for those */
    struct pt_block_room room;
};

/* Makes one; finds one, or what stands for it until the next call. */
struct pt_heap_process *pt_heap_process_of(struct pt_heap_processes *processes, const struct pt_process *process);
struct pt_heap_process *pt_heap_process_found(struct pt_heap_processes *processes, const struct pt_process *process);
void pt_heap_processes_fini(struct pt_heap_processes *processes, pt_u32 n);

#endif
