/* SPDX-License-Identifier: MIT
 *
 * session_data.h - what a session keeps behind its public structs. Internal to model/.
 */
#ifndef PT_MODEL_SESSION_DATA_H
#define PT_MODEL_SESSION_DATA_H

#include "merge/clock_map.h"
#include "source/trace_file.h"
#include "util/map.h"
#include "session_types.h"

struct pt_frames {
    pt_u32 n;
    pt_u64 frames[];
};

/* Heap counters of one thread slot over all its lives, for dump. */
struct pt_slot_heap {
    pt_u32 slot;
    struct pt_heap_totals totals;
};

/* By string id, for small ids: nearly every event asks for it, so it is found in one step. The channel has a byte of
 * its own: it is asked for most often, and 64 of them share a cache line. A process with fewer events than ids has
 * none: of a hundred thousand short processes, it would be the most memory. */
enum { PT_MOST_TEXTS = 65536 };
struct pt_texts {
    pt_u32 n;
    const char **absolute; /* [n], as a path, from the working directory */
    pt_u8 *channel;        /* [n], plus 1; 0 = not asked for yet */
    const char *text[];    /* [n] */
};

struct pt_process_data {
    struct pt_process shown;        /* first: a struct pt_process of a session is always one of these */
    const struct pt_schema *schema; /* of the session */
    struct pt_clock_scale scale;
    pt_i64 last_clock_ns;
    pt_i64 namespace_ns;    /* how far its own CLOCK_MONOTONIC is ahead of the others' */
    struct pt_map strings;  /* id -> struct pt_definition */
    pt_u32 last_string;     /* the greatest id of them */
    struct pt_map stacks;   /* id -> struct pt_definition */
    struct pt_map frames;   /* id -> struct pt_frames, made when asked for */
    struct pt_map paths;    /* dir id << 32 | path id -> interned absolute path */
    struct pt_texts *texts; /* those that were asked for; NULL = none yet */
    struct pt_arena arena;
    struct {
        PT_VEC(const struct pt_definition *);
    } thread_ends; /* by slot, then life */
    struct pt_slot_heap *slot_heaps;
    pt_u32 n_slot_heaps;
    struct pt_map damaged_blocks; /* offsets of blocks that are counted as damaged */
    pt_u32 last_found;            /* index of the thread that was last asked for by its tid */
};

struct pt_session_data {
    struct pt_session shown; /* first */
    struct pt_intern paths;
    struct {
        PT_VEC(struct pt_schema *);
    } schemas;          /* of all files: those of one version have one */
    size_t paths_bytes; /* of absolute paths made so far */
};

static inline struct pt_process_data *pt_process_data_of(const struct pt_process *process)
{
    return (struct pt_process_data *)(size_t)process;
}

#endif
