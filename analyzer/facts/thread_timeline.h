/* SPDX-License-Identifier: MIT
 *
 * facts/thread_timeline.h - what each thread did recently, from recorded calls: so that one can ask what it did between
 * two times.
 *
 * Spans do not overlap: calls within a call belong to it, except the driver's overheads. Similar calls that follow each
 * other closely are one span, so that many small calls fit. Bounded: the oldest are forgotten.
 */
#ifndef PT_FACTS_THREAD_TIMELINE_H
#define PT_FACTS_THREAD_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>

#include "wait_kind.h"

enum {
    PT_TIMELINE_THREADS = 512,      /* that keep spans; a later one has the place of who was silent longest */
    PT_TIMELINE_SPANS = 4096,       /* per thread */
    PT_TIMELINE_MORE_SPANS = 65536, /* per thread, where all of them are held */
    PT_TIMELINE_ALL_MORE = 1 << 20, /* of all threads that have more than PT_TIMELINE_SPANS */
};

/* Between two calls of a loop an interpreter does this much at most: it goes away with the calls. */
#define PT_TIMELINE_CLOSE_NS 20000

enum pt_span_kind {
    PT_SPAN_CALL,     /* `part` says what it was */
    PT_SPAN_SEND,     /* it writes to a pipe or socket: a thread that waits there has data to send */
    PT_SPAN_MAP,      /* memory */
    PT_SPAN_START,    /* a process, or a thread */
    PT_SPAN_CUDA,     /* a call into the driver, of a class */
    PT_SPAN_OVERHEAD, /* overhead of the driver, within a call or outside */
};

/* How the blocker of a wait is known; see blockers.h. */
enum pt_blocker_kind { PT_BLOCKER_NONE, PT_BLOCKER_THREAD, PT_BLOCKER_PROCESS, PT_BLOCKER_WRITER, PT_BLOCKER_READER };

struct pt_span {
    pt_i64 start_ns, end_ns;
    pt_u32 gap_ns; /* of it: between calls that are one here */
    union {
        pt_u32 blocker;  /* number of a thread or process, or of a channel */
        pt_u32 inner_ns; /* of an overhead: in calls that it contains */
    };
    pt_u32 subject; /* string id of the thread's process: path, peer, function; 0 = none. Of an overhead: its kind */
    pt_u8 part;     /* enum pt_time_part; PT_PART__COUNT = of none */
    pt_u8 kind;     /* enum pt_span_kind */
    pt_u8 class;    /* of a CUDA call */
    pt_u8 blocker_kind; /* enum pt_blocker_kind */
};

struct pt_thread_timeline {
    struct pt_span *spans; /* ring; NULL = none is kept */
    pt_u32 capacity, n;    /* capacity: a power of two */
    pt_u32 next;           /* where the next one goes */
    pt_u32 n_joined;       /* of the first ones: those of a kind are one */
    bool is_left_out;      /* beyond PT_TIMELINE_THREADS, all of which had spans a moment ago */
    bool is_held;          /* old spans may be needed */
    pt_i64 forgotten_ns;   /* end of the last span that made room, or that had no place */
    pt_i64 last_ns;        /* end of its last call ever */
};

struct pt_thread_timelines {
    struct pt_thread_timeline *threads; /* by number */
    pt_u32 n_threads, n_kept, n_more;
    pt_u32 kept[PT_TIMELINE_THREADS]; /* n_kept numbers of those with spans */
    pt_i64 full_until_ns;             /* nobody was silent for long: not looked for before */
    pt_i64 held_since_ns;             /* of threads that are held, what ended later is kept where there is room */
};

void pt_thread_timelines_open(struct pt_thread_timelines *all, pt_u32 n_threads);
void pt_thread_timelines_close(struct pt_thread_timelines *all);

/* Spans of a thread come in the order of their ends. Returns the call's self time: without the calls in it. */
pt_i64 pt_thread_timeline_add(struct pt_thread_timelines *all, pt_u32 thread, struct pt_span span);
/* The last span was several, which follow each other. */
void pt_thread_timeline_divide(struct pt_thread_timelines *all, pt_u32 thread, const struct pt_span *spans, pt_u32 n);
/* The n-th span from the end; NULL = it is not kept. Valid until the thread's next span. */
static inline struct pt_span *pt_thread_timeline_last(const struct pt_thread_timeline *timeline, pt_u32 n)
{
    return n < timeline->n ? &timeline->spans[(timeline->next - 1 - n) & (timeline->capacity - 1)] : NULL;
}

/* What a thread did between two times, in pieces. Valid while it is shown. */
struct pt_piece {
    const struct pt_span *span; /* NULL = in no call */
    const struct pt_span
        *then;         /* in no call: the next one, if it follows so closely that the time counts as its; NULL = none */
    bool is_forgotten; /* in no call that is kept */
    pt_i64 start_ns, end_ns;
    double called_ns; /* of it: in calls; a span of several has gaps */
};
typedef void pt_show_piece(void *context, const struct pt_piece *piece);
/* Shows all of [start, end), later pieces first. */
void pt_thread_timeline_split(const struct pt_thread_timeline *timeline, pt_i64 start_ns, pt_i64 end_ns,
                              pt_show_piece *show, void *context);
/* How much of [start, end) is of a part. */
pt_i64 pt_thread_timeline_part_ns(const struct pt_thread_timeline *timeline, enum pt_time_part part, pt_i64 start_ns,
                                  pt_i64 end_ns);

#endif
