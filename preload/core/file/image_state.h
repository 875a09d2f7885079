/* SPDX-License-Identifier: MIT
 *
 * image_state.h - the state of this process image's trace file, in MADV_WIPEONFORK memory: a forked child finds zeros
 * and makes a file of its own at its first event.
 */
#ifndef PT_CORE_FILE_IMAGE_STATE_H
#define PT_CORE_FILE_IMAGE_STATE_H

#include "core/compiler.h"
#include "core/thread.h"

#define PT_MAX_THREADS 4096u
#define PT_MAX_RING_SEGMENTS 2048u
#define PT_MAX_POOLS 512u
#define PT_MAX_MODULES 2048u
#define PT_MAX_DELIVERIES 16u
#define PT_PATH_BYTES 768u

enum pt_image_state { PT_IMAGE_NONE, PT_IMAGE_MAKING, PT_IMAGE_LIVE, PT_IMAGE_FAILED };

/* A run of thread areas cut from one growth of the file, and the working memory of their threads. */
struct pt_area_pool {
    char *base;
    struct pt_private *privates; /* as many; NULL = each thread maps its own */
    pt_u32 count;
    pt_u32 next; /* atomic */
};

enum pt_ring_state { PT_RING_NONE, PT_RING_ACTIVE, PT_RING_CLOSED };
struct pt_ring_segment {
    pt_u64 offset;
    pt_u64 bytes;
    pt_u64 serial;
    pt_u32 state;        /* atomic, enum pt_ring_state */
    pt_u32 is_kept;      /* holds what is to be kept of the start: never taken again */
    pt_u64 closed_at_ns; /* CLOCK_MONOTONIC; 0 = nobody asked for it */
};

/* A slot that holds what devices report, for one delivery at a time. */
struct pt_device_slot {
    struct pt_tracer_thread *thread; /* NULL = never used */
    pt_u32 busy;                     /* atomic */
    pt_u32 pad0;
};

struct pt_known_module {
    pt_u64 start;
    pt_u64 path_hash;
    pt_u64 end; /* stored last; 0 = not there yet */
};

/* Where the process records: first in a head in the file of small processes, then in a file of its own. */
enum pt_own_file { PT_OWN_FILE_NONE, PT_OWN_FILE_MAKING, PT_OWN_FILE_THERE };

/* The memory that a process starts with is for the thread that reserves it. */
enum pt_image_start { PT_START_NONE, PT_START_MAKING, PT_START_OVER };

struct pt_image {
    pt_u32 state; /* atomic, enum pt_image_state */
    pt_u32 pid;
    struct pt_file_header *header; /* the head; its addresses stay when it moves to another file */
    pt_u32 own_file;               /* atomic, enum pt_own_file */
    pt_u32 maker;                  /* atomic: the thread that makes it */
    pt_u32 pad2;
    pt_u32 is_small; /* the head lies in the file of small processes; else nowhere, or in our own */
    pt_u64 clock_base;
    pt_u64 last_refresh;      /* counter at which the header's figures were refreshed */
    pt_u64 inherited_rss_kib; /* peak that the kernel remembers of before exec */
    pt_u32 refreshing;        /* atomic: a thread is at it */
    pt_u32 probe;             /* atomic: the slot that the next new thread probes first; wraps */
    pt_u32 growing;           /* atomic: a thread is making a pool */
    pt_u32 awaited;           /* atomic: threads that were created and are not attached yet */
    pt_u32 is_refused;        /* atomic: counted in the session's page as a process without a file */
    pt_u32 is_gone;           /* atomic: somebody truncated the file; what is stored is lost */
    pt_u32 n_threads;         /* atomic */
    pt_u32 n_pools;           /* atomic */
    pt_u32 pool;              /* atomic: index of the pool in use */
    pt_u32 n_ring;            /* atomic */
    pt_u64 ring_serial;       /* atomic */
    pt_u64 defs_bytes;        /* atomic */
    pt_u32 n_modules;         /* atomic */
    pt_u32 n_module_ids;      /* atomic */
    pt_u64 attach_refused_at;
    pt_u64 refused_at;    /* counter of the last growth that failed: do not try again at every event */
    pt_u64 refused_bytes; /* what it asked for at the least */
    void (*on_new_name)(const char *bytes, pt_u64 length); /* called when a name is defined; NULL = nobody asks */
    struct pt_device_slot devices[PT_MAX_DELIVERIES];
    pt_u32 has_reserve; /* atomic: made, or tried */
    pt_u32 start;       /* atomic, enum pt_image_start */
    char *whole;        /* the file from its first byte on, beyond what is given out; NULL = not mapped so */
    pt_u64 whole_bytes; /* atomic, stored last */
    char path[PT_PATH_BYTES];
    struct pt_area_pool head_pool; /* of one area: the head's */
    /* The first thread in the same page as all that is above: it is all that a small process touches. */
    struct pt_tracer_thread threads[PT_MAX_THREADS] __attribute__((aligned(64)));
    struct pt_area_pool pools[PT_MAX_POOLS];
    struct pt_ring_segment ring[PT_MAX_RING_SEGMENTS];
    struct pt_known_module modules[PT_MAX_MODULES];
};

/* The one image state; NULL in a process that cannot record. */
extern struct pt_image *pt_image __attribute__((visibility("hidden")));

/* The latest image's text (enum pt_text_item), for forked children: kept across fork, not wiped. */
struct pt_kept_text {
    const char *bytes; /* NULL = there has been none */
    pt_u64 length;
    int is_in_file; /* which somebody may truncate; else in memory of ours */
};
extern struct pt_kept_text pt_kept_text __attribute__((visibility("hidden")));

static inline int pt_has_own_file(void)
{
    return __atomic_load_n(&pt_image->own_file, __ATOMIC_ACQUIRE) == PT_OWN_FILE_THERE;
}

/* Count what could not be recorded, where the thread has no area to count it in. */
void pt_count_drop(enum pt_drop reason, pt_u64 events);

#endif
