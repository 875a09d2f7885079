/* SPDX-License-Identifier: MIT
 *
 * cupti/state.h - what the files of this folder share: libcupti's functions, and what is known of the recording.
 *
 * All state lies in one MADV_WIPEONFORK mapping that is made when the driver injects us. A forked child finds zeros
 * there: it has no CUPTI, and must not call it, because CUPTI's own thread is not there (a flush would hang for ever).
 */
#ifndef PT_CUDA_CUPTI_STATE_H
#define PT_CUDA_CUPTI_STATE_H

#include "core/state.h"
#include "layout.h"

typedef void (*pt_cupti_request_fn)(pt_u8 **data, pt_u64 *bytes, pt_u64 *max_records);
typedef void (*pt_cupti_complete_fn)(void *context, pt_u32 stream, pt_u8 *data, pt_u64 bytes, pt_u64 valid_bytes);

struct pt_cupti_api {
#define REQUIRED(name, parameters) int(*name) parameters;
#define OPTIONAL(name, parameters) int(*name) parameters;
#include "api.def"
#undef REQUIRED
#undef OPTIONAL
};

enum {
    PT_CUPTI_SUCCESS = 0,
    PT_CUPTI_MAX_LIMIT = 12,
    PT_CUPTI_NOT_INITIALIZED = 15,
    PT_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    PT_CUPTI_UNKNOWN = 999
};
enum { PT_CUPTI_DRIVER_API = 1, PT_CUPTI_RUNTIME_API = 2 };
enum pt_cupti_when { PT_CUPTI_ALWAYS, PT_CUPTI_GRAPH, PT_CUPTI_EVENT_USES, PT_CUPTI_CHOSEN, PT_CUPTI_NEVER };
#define PT_CUPTI_EVENT_USES_SINCE 26u /* CUDA 12.8 */
#define PT_CUPTI_OLDEST 13u           /* CUDA 11.0: records only grow since */
#define PT_CUPTI_CALLS 1024u

enum pt_cupti_loss {
#define LOSS(name, text) PT_LOSS_##name,
#include "losses.def"
#undef LOSS
    PT_LOSS__COUNT
};

/* A function of the driver or the runtime, by the number that CUPTI gives it. */
enum { PT_CALL_KNOWN = 1, PT_CALL_NOISE = 2, PT_CALL_HAS_ROW = 4 };
struct pt_cupti_call {
    pt_u32 name; /* atomic: string id, 0 = not seen yet */
    pt_u8 class;
    pt_u8 flags;
    pt_u16 pad0;
};

/* The string id of a key: rows are only added, never removed, so readers need no lock. */
struct pt_text_id {
    pt_u64 hash; /* atomic; 0 = free */
    pt_u64 id;   /* atomic, stored after hash; 0 = not there yet */
};
#define PT_TEXT_IDS 8192u

/* The string id of a name by its pointer. The text is compared, because a pointer may be reused after a module was
 * unloaded. */
struct pt_name_id {
    pt_u64 pointer; /* atomic; 0 = free */
    const char *copy;
    pt_u32 length;
    pt_u32 id; /* atomic, stored last; 0 = not there yet */
};
#define PT_NAME_IDS 4096u
#define PT_NAME_BYTES (1u << 20)

/* Which call recorded an event and in which queue, by the number of this use of it. */
struct pt_event_use {
    pt_u64 use;   /* atomic */
    pt_u64 where; /* atomic: correlation of the call, queue << 32 */
};
#define PT_EVENT_USES 4096u

/* How large a pool was when its size was last reported. */
struct pt_pool_size {
    pt_u64 pool; /* atomic; 0 = none */
    pt_u64 bytes;
};
#define PT_POOL_SIZES 256u

/* Calls of the driver. CHOSEN: single ones can be recorded. NONE: they cannot, and none was needed yet. */
enum pt_driver_calls { PT_DRIVER_CALLS_NONE, PT_DRIVER_CALLS_CHOSEN, PT_DRIVER_CALLS_ALL, PT_DRIVER_CALLS_REFUSED };
#define PT_CUPTI_DRIVER_KIND 4u
#define PT_CUPTI_RUNTIME_KIND 5u
#define PT_CUPTI_NO_ID 0xffffffffu /* CUPTI's "none", of streams and events */
#define PT_CUPTI_STARTERS 65536u   /* kernels come that many calls after their own at most */

#define PT_CUPTI_BATCH 256u
#define PT_CUPTI_BUFFER_BYTES (256u << 10)
#define PT_CUPTI_BUFFERS 1024u

struct pt_cupti_buffer {
    pt_u32 is_taken;                    /* atomic */
    const pt_u8 *batch[PT_CUPTI_BATCH]; /* the decoder's work space: it must not need much stack */
    char text[1024];
    pt_u8 data[PT_CUPTI_BUFFER_BYTES] __attribute__((aligned(64)));
};

/* CHANGING: a thread is changing it. */
enum pt_cupti_phase { PT_CUPTI_NONE, PT_CUPTI_CHANGING, PT_CUPTI_RECORDING, PT_CUPTI_YIELDED, PT_CUPTI_ENDED };

struct pt_cupti {
    pt_u32 phase; /* atomic, enum pt_cupti_phase; PT_CUPTI_NONE in a forked child */
    pt_u32 version;
    pt_u64 since;              /* counter: nothing was recorded before */
    pt_u64 last_tick;          /* atomic, seconds */
    pt_u64 unflushed_since_ns; /* atomic: seen then that the program was done but for its last flush; 0 = not */
    void *subscriber;          /* NULL while the program is subscribed */
    void *library;
    struct pt_cupti_api api;
    pt_u8 has_system_tids;
    pt_u8 has_our_clock; /* registering it again corrupts a record each time */
    pt_u8 has_our_buffers;
    pt_u8 pad0[1];
    pt_u32 n_buffers; /* atomic */
    pt_u32 layout_bytes[PT_LAYOUT__COUNT];
    pt_u32 strides[32];            /* bytes from one record of a kind to the next, by row of cupti/kinds.def */
    pt_u64 losses[PT_LOSS__COUNT]; /* atomic */
    struct pt_cupti_buffer *buffers[PT_CUPTI_BUFFERS];
    pt_u32 context_devices[256]; /* by context id: device + 1 */
    struct pt_cupti_call calls[2][PT_CUPTI_CALLS];
    struct pt_text_id text_ids[PT_TEXT_IDS];
    struct pt_event_use event_uses[PT_EVENT_USES];
    struct pt_pool_size pool_sizes[PT_POOL_SIZES];
    pt_u32 driver_calls;  /* atomic, enum pt_driver_calls */
    pt_u32 suspect;       /* atomic: a kernel without a call of the runtime, by its correlation id; 0 = none */
    pt_u64 suspect_since; /* atomic, counter */
    pt_u32 newest;        /* atomic, correlation id of a call or a kernel */
    pt_u32 acquitted;     /* atomic: kernels up to this correlation id are not suspected; 0 = none are acquitted */
    pt_u32 starters[PT_CUPTI_STARTERS]; /* atomic: calls of the runtime, by correlation id; empty unless NONE */
    struct pt_name_id name_ids[PT_NAME_IDS];
    pt_u64 name_bytes_used; /* atomic */
    char name_bytes[PT_NAME_BYTES];
    char path[512];
    char text[1024];
    char failures[512];
};

/* NULL before the driver has injected us. */
extern struct pt_cupti *pt_cupti __attribute__((visibility("hidden")));

PT_ALWAYS_INLINE enum pt_cupti_phase pt_cupti_phase(void)
{
    return pt_cupti ? __atomic_load_n(&pt_cupti->phase, __ATOMIC_ACQUIRE) : PT_CUPTI_NONE;
}

/* Count; stored as gpu_lost events by pt_cupti_report_losses. */
PT_ALWAYS_INLINE void pt_cupti_lost(struct pt_cupti *c, enum pt_cupti_loss reason, pt_u64 records)
{
    __atomic_fetch_add(&c->losses[reason], records, __ATOMIC_RELAXED);
}

/* Wait while an atomic word has this value, for some seconds at most. */
void pt_cupti_nap_while(const pt_u32 *word, pt_u32 value);
/* The phase, but CHANGING only after waiting for seconds. */
enum pt_cupti_phase pt_cupti_settled_phase(void);

#endif
