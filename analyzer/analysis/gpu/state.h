/* SPDX-License-Identifier: MIT
 *
 * gpu/state.h - the data of the analysis of GPUs, and functions that find an entry in it.
 *
 * Work on GPUs is joined to the call that started it by the process's correlation number, and by the call to a thread:
 * so the cause of each gap between two pieces of work is what that thread did during it. Everything is bounded: see the
 * limits.
 */
#ifndef PT_ANALYSIS_GPU_STATE_H
#define PT_ANALYSIS_GPU_STATE_H

#include "proftrace/cuda.h"
#include "facts/state.h"
#include "facts/time_union.h"
#include "profile/histogram.h"
#include "profile/profile.h"
#include "util/hash.h"
#include "util/id_map.h"
#include "causes.h"

enum {
    PT_GPU_MOST_RANGE_CHANGES = 1024, /* per thread: ranges that were opened or closed */
    PT_GPU_MOST_IMPORTS = 8192,       /* per thread */
    PT_GPU_MOST_CALLS = 65536,        /* per process: launches that work may be joined to */
    PT_GPU_ALL_CALLS = 1 << 21,       /* of all processes */
    PT_GPU_MOST_PENDING = 4096,       /* records that wait for their call */
    PT_GPU_MOST_GAPS = 1024,          /* per device: those that a later record may still shorten */
    PT_GPU_MOST_PLACES = 8192,        /* rows of the table of places */
    PT_GPU_MOST_TEXTS = 65536,        /* distinct names */
    PT_GPU_MOST_KERNELS = 4096,       /* distinct names of kernels by device and stage */
    PT_GPU_MOST_DEVICES = 1024,       /* by stage */
    PT_GPU_MOST_STREAMS = 1024,       /* by stage */
    PT_GPU_MOST_NODES = 4096,         /* of the tree of ranges */
    PT_GPU_MOST_DEPTH = 64,           /* of open ranges */
    PT_GPU_MOST_YIELDS = 64,          /* per process */
    PT_GPU_QUEUE_ENDS = 1024,         /* per stream: CUDA's queues hold as many */
    PT_GPU_STEPS_KEPT = 64,           /* per process: work comes after the step that launched it */
    PT_GPU_COPY_GROUPS = 512,         /* kinds of copies by stage and device */
    PT_GPU_SIZE_CLASSES = 6,
    PT_GPU_VALUE_BYTES = 64,   /* of a value that is read back: tensor.item() */
    PT_GPU_MOST_MODELS = 4096, /* per process: modules that were moved */
    PT_GPU_MOST_SUMS = 2048,   /* functions, kinds of synchronisation and overhead */
    PT_GPU_MOST_NOTES = 8,
};

/* ---- threads ---- */

struct pt_gpu_range_change { /* from when on a range was the innermost one */
    pt_i64 start_ns;
    pt_u32 node;
};

struct pt_gpu_import {
    pt_i64 start_ns, end_ns; /* end: INT64_MAX while it lasts */
    const char *module;
};

struct pt_gpu_thread {
    pt_u32 *nodes; /* PT_GPU_MOST_DEPTH open ranges; NULL = never any */
    pt_u32 depth;
    struct {
        PT_VEC(struct pt_gpu_range_change);
    } range_changes; /* grows to a ring of PT_GPU_MOST_RANGE_CHANGES */
    pt_u64 n_range_changes;
    bool is_ranging; /* it has had ranges or phases of its own */
    struct {
        PT_VEC(struct pt_gpu_import);
    } imports;
    pt_u32 import_depth; /* of open ranges, with the import that lasts; 0 = none lasts */
    pt_u32 model_depth;  /* of open ranges, with the phase that moves a model for the first time; 0 = none is open */
    pt_u64 model;        /* which one */
    pt_u32 n_overlapping, overlapping; /* open ranges that may overlap others; the set of them, 0 = not made yet */
    pt_i64 call_end_ns;                /* of its last CUDA call; 0 = none yet */
    pt_u32 holes;                      /* in its events, that were passed */
};

/* ---- processes ---- */

/* Copies that are made once, however long the program runs. */
struct pt_gpu_once {
    pt_u64 calls, bytes;
    pt_i64 ns, api_ns;
};

struct pt_gpu_waiting {
    pt_i64 ns;
    pt_u64 copies, sets;
};

/* Of one process, in a group of copies. Which of both are made once is known at its end: those before its first step
 * where it makes one, else those that move a model. */
struct pt_gpu_own_copies {
    size_t group;
    struct pt_gpu_once before_steps, of_models;
};

struct pt_gpu_call {
    pt_i64 start_ns, end_ns;
    const struct pt_thread *thread;
    const char *name;
    pt_u32 correlation; /* 0 = free */
    pt_u32 node, step;  /* range that was open, step that ran; 0 = none */
    pt_u32 overlapping; /* set of ranges: gpu/overlaps.c; 0 = none */
    pt_u32 helped;      /* range of another thread that it was launched for; 0 = none */
    pt_u8 class;
    bool reads_value;       /* it copies so little to the host that somebody wants to know it now */
    bool is_before_steps;   /* the process had not made its first training step by then */
    bool moves_model;       /* made in the first Module.to() or cuda() of that model */
    pt_i64 before_start_ns; /* between the thread's call before it and this one */
};

struct pt_gpu_step {
    pt_i64 start_ns, gpu_ns;
    pt_u32 number, activities;
};

struct pt_gpu_pace {
    pt_i64 first_ns, slowest_at_ns;
    struct pt_histogram durations, gpu, activities;
};

struct pt_gpu_process {
    struct pt_gpu_call *calls; /* by correlation */
    pt_u32 n_slots;            /* a power of two */
    pt_u64 n_calls;
    pt_i64 yielded_ns; /* since then; -1 = it is not */
    struct {
        pt_i64 start_ns, end_ns;
        bool is_hole; /* not given away: records are missing */
    } yields[PT_GPU_MOST_YIELDS];
    pt_u32 n_yields, n_forgotten_yields;
    pt_u32 step;                         /* number of the step that runs; 0 = none yet */
    bool steps_by_name;                  /* by ranges; else by events */
    bool step_is_cut;                    /* events of a thread are missing in it */
    bool is_recording;                   /* by CUPTI */
    bool has_records, is_told;           /* CUPTI's; an event told how its GPU work is seen */
    bool has_optimized, has_made_step;   /* an optimizer step has begun; the training has gone on after it */
    pt_u32 n_ranging, sum_ranging;       /* threads with open ranges; their indexes: of one, its */
    const struct pt_gpu_thread *ranging; /* that has ever had ranges of its own; has_several: one of several */
    bool has_several;
    struct pt_gpu_step steps[PT_GPU_STEPS_KEPT];
    struct pt_gpu_pace *pace; /* NULL = it has no steps */
    pt_u64 n_values;          /* read back, and waited for */
    pt_i64 values_ns;         /* once it has made a step */
    pt_u64 n_freed,
        n_churned; /* freed: releases that no allocation has followed; churned: allocations that followed one */
    pt_i64 freed_ns, churn_ns; /* in the calls that released, and in both where one followed the other */
    pt_u64 nccl_calls;
    pt_i64 nccl_ns;
    struct {
        PT_VEC(struct pt_gpu_own_copies);
    } copies;
    struct pt_map moved_models;                    /* by object: with calls of CUDA */
    struct pt_gpu_waiting before_steps, of_models; /* of its calls that wait for a copy or a set */
};

/* ---- devices ---- */

struct pt_gpu_place {                 /* a cause and where */
    pt_u32 device;                    /* index */
    pt_u8 cause, inner;               /* inner: what the blocker did; PT_GPU_CAUSE__COUNT = it was not followed */
    const struct pt_process *process; /* whose thread it was */
    pt_u32 holder_tid, tid;
    const char *text;
    pt_i64 ns;
    pt_u64 gaps;
};

struct pt_gpu_gap {
    pt_i64 start_ns, end_ns;
    pt_i64 unseen_ns;  /* of it, while the program had CUPTI for itself */
    pt_i64 no_cost_ns; /* of it, while the launching thread imported modules, or waited for requests */
    bool is_at_start;  /* the process had not made its first training step by then */
    size_t first_piece, first_find;
};

struct pt_gpu_piece {
    pt_u32 place;
    pt_i64 ns;
};

/* Of a gap, too: what samples of the CPU profile added to a place of gpu/host.c, by its index there. */
struct pt_gpu_find {
    size_t place;
    double ns;
};

struct pt_gpu_device {
    pt_u32 stage, number; /* number: that of its process, unless another device of the stage has it */
    const char *name;
    pt_u64 memory_bytes;
    pt_u32 compute_major;   /* of its compute capability; 0 = not known */
    bool is_used, is_named; /* named: by an id that other processes know it by, too */
    pt_i64 first_ns, busy_end_ns;
    struct pt_time_union kernels, copies, compute; /* compute: kernels but those of NCCL */
    struct pt_gpu_launches *launches;              /* NULL = the launch of no kernel is known */
    pt_u64 n_kernels, n_copies, n_sets;
    pt_i64 idle_ns, unseen_ns;
    struct pt_gpu_gaps {
        pt_i64 all_ns, large_ns; /* what is no cost is left out; large: of PT_GPU_LARGE_GAP_NS and more */
        pt_u64 n_large;
    } at_start, later;                /* until the first training step is done, and from then on */
    pt_i64 longest_ns, longest_at_ns; /* without what is no cost */
    pt_u64 n_gaps;
    pt_u64 gaps_of[PT_GPU_CAUSE__COUNT]; /* gaps that have the cause */
    struct {
        PT_VEC(struct pt_gpu_gap);
    } gaps; /* the last ones */
    struct {
        PT_VEC(struct pt_gpu_piece);
    } pieces; /* of these gaps */
    struct {
        PT_VEC(struct pt_gpu_find);
    } finds; /* of these gaps, too */
    struct {
        PT_VEC(const struct pt_process *);
    } users; /* whose work ran on it; those that ended before all these gaps may be left out */
};
#define PT_GPU_LARGE_GAP_NS 100000000

/* The way of kernels from the call that launches them: in the call, in the queue, on the GPU. */
struct pt_gpu_launches {
    struct pt_histogram call, queue, run;
};

struct pt_gpu_stream {
    pt_u32 device;
    const char *name; /* context/stream */
    const struct pt_process *process;
    struct pt_time_union busy;
    pt_i64 first_ns, last_ns;
    pt_u64 activities;
    pt_i64 ends_ns[PT_GPU_QUEUE_ENDS];
    pt_u64 n_ends;
    pt_u64 launches, depth_sum, depth_most, launched_empty;
};

struct pt_gpu_kernel {
    pt_u32 device;
    const char *name;
    pt_u32 variants;
    pt_u64 launched;
    pt_i64 api_ns, wait_ns; /* of `launched` */
    struct pt_histogram durations;
};

struct pt_gpu_copies {
    pt_u32 device;
    pt_u32 kinds; /* gpu_copy's tag; a set has bit 30 */
    pt_u64 bytes;
    pt_i64 api_ns;
    struct pt_histogram durations;
    struct {
        pt_u64 calls, bytes;
        pt_i64 ns;
    } sizes[PT_GPU_SIZE_CLASSES];
    struct {
        pt_u64 calls, bytes;
        pt_i64 ns, api_ns;
    } values;                /* of them: so few bytes to the host that somebody wants to know them now */
    struct pt_gpu_once once; /* of the others; known at the end */
};
#define PT_GPU_IS_SET 0x40000000u

enum pt_gpu_sum_kind { PT_GPU_SUM_CALL, PT_GPU_SUM_SYNC, PT_GPU_SUM_OVERHEAD, PT_GPU_SUM_WRAPPED };
struct pt_gpu_summed {
    pt_u32 stage;
    enum pt_gpu_sum_kind what;
    const char *name;
    pt_u32 kind; /* class of a call, kind of the others */
};

/* Calls of a function, synchronisations and overheads of a kind. */
struct pt_gpu_sum {
    struct pt_gpu_summed of;
    pt_u64 errors;
    struct pt_histogram durations;
};

struct pt_gpu_node { /* of the tree of ranges */
    pt_u32 parent, stage;
    const char *name;
    pt_u64 calls, activities;
    pt_i64 gpu_ns, others_ns; /* others: work that threads without ranges launched during it; not in gpu_ns */
};

/* ---- the whole ---- */

struct pt_gpu_stage {
    bool is_used;
    pt_u64 seen, lost;
    pt_u64 unseen_work; /* that wrappers saw being launched while the program had CUPTI for itself */
    pt_i64 yielded_ns;
    bool has_cupti;
    bool is_cut; /* the last work of a process may be missing; how much is not known */
    struct pt_gpu_note {
        const char *before, *reason, *after; /* reason: of gpu->texts; "" = the rest says it */
    } notes[PT_GPU_MOST_NOTES];
    pt_u32 n_notes;
    pt_i64 class_ns[PT_CUDA_CLASS__COUNT];
    pt_u64 class_calls[PT_CUDA_CLASS__COUNT];
    struct pt_gpu_waiting once; /* of the calls of PT_CUDA_COPY and PT_CUDA_SET; known at the end */
    pt_i64 first_step_ns;
    struct pt_histogram *step_durations; /* of all processes; NULL = none */
};

/* A record of work, kept until its call is known. */
struct pt_gpu_activity {
    pt_u16 kind;
    pt_i32 tag;
    pt_u32 correlation, queue, name, config;
    pt_u64 bytes;
    struct pt_process *process;
    pt_i64 start_ns, end_ns;
};

struct pt_gpu {
    struct pt_profile *profile;
    struct pt_facts *facts;
    bool is_used;
    pt_i64 now_ns;
    struct pt_gpu_stage *stages;
    struct pt_gpu_thread *threads;
    pt_i64 busy_end_ns;                /* of the device that ended last */
    pt_u32 idlest;                     /* device whose work ended first, of those that may go on */
    struct pt_gpu_process **processes; /* by index; NULL = none of its events came */
    pt_u64 n_calls;                    /* slots of all processes */
    struct pt_gpu_activity *pending;   /* ring of PT_GPU_MOST_PENDING */
    pt_u64 n_pending_in, n_pending_out;
    struct {
        PT_VEC(struct pt_gpu_device *);
    } devices;
    struct {
        PT_VEC(struct pt_gpu_stream *);
    } streams;
    struct {
        PT_VEC(struct pt_gpu_kernel *);
    } kernels;
    struct {
        PT_VEC(struct pt_gpu_copies *);
    } copies;
    struct pt_gpu_memories *memory; /* gpu/memory.c; NULL = nothing was said of memory */
    struct pt_gpu_levels *levels;   /* gpu/levels.c */
    struct {
        PT_VEC(struct pt_gpu_sum *);
    } sums;
    struct {
        PT_VEC(struct pt_gpu_place);
    } places;
    struct {
        PT_VEC(struct pt_gpu_node);
    } nodes;                          /* 0 = no range */
    struct pt_gpu_overlaps *overlaps; /* gpu/overlaps.c */
    struct pt_map device_ids;         /* process, number -> hash of what identifies the device */
    struct pt_map by_device, by_stream, by_queue, by_kernel, by_variant, by_copies, by_sum, by_place, by_node;
    struct pt_id_map texts_of_ids[2]; /* process, string id -> text; folded */
    struct pt_intern texts;
    struct pt_gpu_host **hosts; /* the CPU profile, by stage: gpu/host.c */
};

/* Interned. Beyond the limit: those that are known; NULL = it is new. */
const char *pt_gpu_text(struct pt_gpu *gpu, const char *text);
/* Interned beyond the limit, too: of names that this program has itself there are few. */
const char *pt_gpu_own_text(struct pt_gpu *gpu, const char *text);
pt_u64 pt_gpu_text_hash(const char *text); /* of what is told apart, but never shown; not 0 */
/* The text of a string id of a process; folded: numbers in it become "*". */
const char *pt_gpu_string(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 id, bool is_folded);
/* What a range is called in tables: numbers of steps are left out. */
const char *pt_gpu_range_name(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 id, bool *ret_is_step);
struct pt_gpu_process *pt_gpu_process_of(struct pt_gpu *gpu, const struct pt_process *process);
struct pt_gpu_device *pt_gpu_device_at(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 number,
                                       pt_u32 *ret_index);
/* From now on the process' device is the one of that UUID (may be NULL). */
struct pt_gpu_device *pt_gpu_device_named(struct pt_gpu *gpu, const struct pt_process *process, pt_u32 number,
                                          const char *uuid);
/* The place of a cause, made when it is new. */
pt_u32 pt_gpu_place_at(struct pt_gpu *gpu, const struct pt_gpu_place *wanted);

static inline struct pt_gpu_thread *pt_gpu_thread_of(const struct pt_gpu *gpu, const struct pt_thread *thread)
{
    return &gpu->threads[pt_thread_number(&gpu->facts->ids, thread)];
}
static inline pt_u32 pt_gpu_stage_of(const struct pt_gpu *gpu, const struct pt_process *process)
{
    return pt_profile_stage_of(gpu->profile, process);
}

#endif
