/* SPDX-License-Identifier: MIT
 *
 * session_types.h - what a run is made of: processes, threads, modules, exact totals, and how trustworthy each file is.
 */
#ifndef PT_MODEL_SESSION_TYPES_H
#define PT_MODEL_SESSION_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "proftrace/format.h"
#include "proftrace/events.h"
#include "decode/event.h"

struct pt_trace_file;

/* Exact totals of one kind of events, in ns. */
struct pt_kind_totals {
    pt_u64 calls, errors, bytes;
    pt_u64 ns;
};

/* a + b, staying at the maximum: figures of a damaged file must not wrap around to small ones. */
static inline pt_u64 pt_sum(pt_u64 a, pt_u64 b)
{
    pt_u64 sum;
    return __builtin_add_overflow(a, b, &sum) ? ~0ull : sum;
}

/* Add b to a. */
static inline void pt_kind_totals_add(struct pt_kind_totals *a, const struct pt_kind_totals *b)
{
    a->calls = pt_sum(a->calls, b->calls);
    a->errors = pt_sum(a->errors, b->errors);
    a->bytes = pt_sum(a->bytes, b->bytes);
    a->ns = pt_sum(a->ns, b->ns);
}

/* Those of the kinds that there are: most processes know a few of more than a hundred. */
struct pt_totals_by_kind {
    pt_u8 place[PT_KIND__COUNT]; /* in rows; rows[0] is empty */
    struct pt_kind_totals rows[];
};
_Static_assert(PT_KIND__COUNT < 255, "a place is a byte");

static inline const struct pt_kind_totals *pt_totals_of(const struct pt_totals_by_kind *totals, pt_u32 kind)
{
    static const struct pt_kind_totals none;
    return totals ? &totals->rows[totals->place[kind]] : &none;
}

struct pt_heap_totals {
    pt_u64 allocs, bytes, frees, failures;
    struct pt_heap_class classes[PT_HEAP_CLASSES]; /* allocations by size class */
};

/* Events of a thread are missing there, while it lived. */
struct pt_hole {
    pt_i64 from_ns, until_ns; /* the last event before and the first one after it */
};

struct pt_thread {
    struct pt_process *process;
    pt_u32 slot, life;
    pt_u32 tid;
    pt_u32 index;            /* in process->threads */
    pt_i64 start_ns, end_ns; /* first and last thing known */
    const struct pt_totals_by_kind *totals;
    pt_u64 heap_allocs, heap_bytes, heap_frees;
    const struct pt_hole *holes; /* in the order of time */
    pt_u32 n_holes;
};

struct pt_module {
    pt_u64 start, end, load_bias;
    pt_i64 since_ns; /* defined at; a later module over the same range replaces it */
    const char *path;
    pt_u8 build_id[64];
    pt_u32 build_id_bytes;
    bool python_known;               /* it was looked for: see python.h */
    pt_u64 python_start, python_end; /* CPython's state in memory; equal = it is not here */
};

struct pt_untraced {
    const char *path;
    const char *reason;
    pt_i64 at_ns;
};

/* How much of a file could be used. Everything that was not is counted here and shown in every report. */
struct pt_quality {
    pt_i32 growth_errno; /* why the file could not grow when it last could not; 0 = it always could */
    pt_u64 events;       /* recorded and readable, from block headers and raw buffers */
    pt_u64 overwritten;  /* the ring was reused */
    pt_u64 dropped;      /* sum of drops */
    pt_u64 drops[PT_DROP__COUNT];
    pt_u64 corrupt_blocks, corrupt_events, corrupt_definitions;
    bool truncated;       /* the file is shorter than its header says */
    bool is_area_cut;     /* within the counters of a thread */
    int read_errno;       /* why bytes that are there cannot be read, which counts as truncated; 0 = all could */
    pt_u64 cut_bytes;     /* bytes that are missing at its end */
    pt_u32 cut_processes; /* of a session: processes whose files are truncated */
    pt_u32 damaged_files; /* of a session: those of which a part could not be read */
    pt_u64 missing_files; /* of a session: those that were made, and are not there or cannot be read at all */
    pt_u64 blank_files;   /* of a session: those that are there and empty; missing, too, where none can be read */
};

/* Whether records are missing that were made: others may be the ends of what is open, or what began it. */
static inline bool pt_quality_lacks_events(const struct pt_quality *quality)
{
    return quality->overwritten || quality->dropped || quality->corrupt_events || quality->corrupt_blocks;
}

enum pt_question {
    PT_QUESTION_IS_WORKER,     /* see facts/workers.h */
    PT_QUESTION_HAS_PYTHON,    /* see facts/python.h */
    PT_QUESTION_SERVES,        /* whether it listens or accepts: see facts/wait_kind.h */
    PT_QUESTION_HAS_CONNECTED, /* it, or one whose connections it has: likewise */
    PT_QUESTION__COUNT
};
enum pt_answer { PT_ANSWER_UNKNOWN, PT_ANSWER_NO, PT_ANSWER_YES };

struct pt_process {
    struct pt_session *session;
    struct pt_trace_file *file;
    const char *file_name;
    pt_u32 index;
    pt_u32 number; /* the index in the whole run, before a window left others out */
    pt_u64 trace_id, parent_trace_id;
    pt_u32 pid, ppid, uid;
    struct pt_process *parent;         /* by parent_trace_id, else by ppid and time; NULL = root of the tree */
    struct pt_process *previous_image; /* same process before exec; NULL = none */
    struct pt_process *left_image;     /* likewise, where a window has left it out */
    struct pt_process *forked_from;    /* whose names it has, too, though a window may have left it out; NULL = none */
    const char *exe, *cwd, *stage, *host, *comm;
    const char **argv;
    int argc;      /* strings in argv */
    int true_argc; /* as the process had it; more than argc when it was cut */
    enum pt_process_state state;
    bool is_elsewhere;    /* on another machine or boot than whoever began the run, whose samples say nothing of it */
    bool is_running;      /* right now, on this machine */
    bool is_out_of_sight; /* it may run in a container or on another machine: a short time ago it did */
    bool is_beginning;    /* it grew, and the file that it went on in is missing */
    bool is_asleep;       /* likewise: the main thread of one with children, which has hardly used a CPU until now */
    int exit_status;
    /* Since the session's start; end = as the process, its parent or the launcher noted it, else the last sign of life;
     * of one that is running: now. */
    pt_i64 start_ns, end_ns;
    pt_i64 alive_ns,
        gone_ns;     /* it ended between them; both are the end where that is known, gone = never if nobody saw it */
    int wait_status; /* of a process that noted no end: what its parent or the launcher was told; -1 = nothing */
    int next_status; /* of the program without a trace that a stage's first process became, likewise */
    pt_u64 start_monotonic_ns;    /* CLOCK_MONOTONIC at start_ns */
    pt_u64 start_realtime_ns;     /* what its own wall clock showed when it began, before any window; 0 = unknown */
    pt_u64 cpu_ns, max_rss_bytes; /* 0 = unknown */
    pt_i64 cpu_noted_ns;          /* when it noted these, which are of all its threads */
    pt_u32 layers_off;            /* 1 << enum pt_layer: not recorded, because the user said so */
    pt_u32 layers_unknown;        /* ... because the library did not know of it */
    enum pt_heap_mode heap_mode;
    pt_u64 heap_sample_bytes;
    bool is_heap_hidden;      /* another allocator came before the library, which saw no call of malloc */
    bool is_heap_late;        /* the library was loaded when the program had its malloc already */
    const char *heap_unknown; /* why its counters are not known; NULL = they are */
    pt_i64 rank, local_rank;  /* of a distributed program, as its launcher said; -1 = unknown */
    pt_u32 world_size;        /* 0 = unknown */

    struct pt_thread *threads; /* one per (slot, life) */
    pt_u32 n_threads;
    const struct pt_totals_by_kind *totals; /* sum over threads; exact even when events were overwritten */
    const struct pt_heap_totals *heap;      /* likewise */
    const struct pt_totals_by_kind
        *life_totals; /* where `totals` are of a window: those of all of its life; else NULL */
    pt_i64 cut_ns;    /* likewise: how long before start_ns it began; else 0 */
    struct pt_module *modules;
    pt_u32 n_modules;
    struct pt_untraced *untraced;
    pt_u32 n_untraced;
    struct pt_quality quality;
    pt_u64 lock_cache[16]; /* address of a lock, plus 1 when it is the GIL: see python.h */
    /* When it first named a socket that listens, or never: see facts/wait_kind.h; 0 = not asked for yet. */
    pt_i64 listens_ns;
    bool has_children;
    bool lacks_earlier;                /* of a window: not all connections that it made before it were found */
    pt_u8 answers[PT_QUESTION__COUNT]; /* enum pt_answer */
};

/* What is asked of a process for each of its events is found once and kept in it, which nobody sees. Two threads may
 * ask at once, and find the same. */
static inline enum pt_answer pt_process_known_answer(const struct pt_process *process, enum pt_question question)
{
    return (enum pt_answer)__atomic_load_n(&process->answers[question], __ATOMIC_RELAXED);
}

static inline bool pt_process_answer(const struct pt_process *process, enum pt_question question,
                                     bool (*find)(const struct pt_process *process))
{
    enum pt_answer answer = pt_process_known_answer(process, question);
    if (answer == PT_ANSWER_UNKNOWN) {
        answer = find(process) ? PT_ANSWER_YES : PT_ANSWER_NO;
        __atomic_store_n(&((struct pt_process *)(uintptr_t)process)->answers[question], (pt_u8)answer,
                         __ATOMIC_RELAXED);
    }
    return answer == PT_ANSWER_YES;
}

/* Whether its counters were in the missing end of its file. */
static inline bool pt_process_lacks_counters(const struct pt_process *process)
{
    return process->quality.truncated && (!process->n_threads || process->quality.is_area_cut);
}

/* The program that it was before it executed others; NULL of NULL. */
static inline const struct pt_process *pt_process_first_image(const struct pt_process *process)
{
    while (process && process->previous_image)
        process = process->previous_image;
    return process;
}

/* Whose connections it began with: the program that it was before it executed this one, or who forked it, though a
 * window may have left them out. NULL = nobody's. */
static inline const struct pt_process *pt_process_inherits_from(const struct pt_process *process)
{
    const struct pt_process *image = process->previous_image ? process->previous_image : process->left_image;
    return image ? image : process->forked_from;
}

/* A program that was spawned may have a connection that was not closed, too. */
static inline const struct pt_process *pt_process_may_inherit_from(const struct pt_process *process)
{
    const struct pt_process *from = pt_process_inherits_from(process);
    return from ? from : process->parent;
}

struct pt_maker_steps {
    int n, n_to_others;
};

/* One step further; NULL = none, or too far away. A program that the same process executed before is no other process:
 * behind those of `sh -c 'exec env X=1 python app.py'` nobody was found who had connected. */
static inline const struct pt_process *pt_process_next_maker(const struct pt_process *process,
                                                             struct pt_maker_steps *steps)
{
    enum { MOST_STEPS = 64, MOST_TO_OTHERS = 3 };
    const struct pt_process *maker = pt_process_may_inherit_from(process);
    steps->n++;
    steps->n_to_others += maker != process->previous_image && maker != process->left_image;
    return steps->n <= MOST_STEPS && steps->n_to_others <= MOST_TO_OTHERS ? maker : NULL;
}

/* Why the counters of its heap say nothing; NULL = they do. */
static inline const char *pt_process_why_no_heap(const struct pt_process *process)
{
    return process->heap_mode == PT_HEAP_OFF    ? "heap recording was off"
           : pt_process_lacks_counters(process) ? "the trace file is cut short: its counters are missing"
                                                : process->heap_unknown;
}

/* Whether some of its events are missing. */
static inline bool pt_process_lost_events(const struct pt_process *process)
{
    return process->quality.overwritten || process->quality.dropped || process->quality.corrupt_events ||
           process->quality.truncated;
}

#define PT_NEVER_NS INT64_MAX

/* Whether its end is known to be between two instants only. */
static inline bool pt_process_end_is_open(const struct pt_process *process)
{
    return !process->is_running && process->alive_ns < process->gone_ns;
}

struct pt_session {
    char *path;                    /* run directory, or the single file */
    char *name;                    /* last component */
    pt_u64 start_realtime_ns;      /* instant 0 of start_ns and friends */
    pt_i64 duration_ns;            /* last end of any process */
    struct pt_process **processes; /* by start time, ties by pid */
    pt_u32 n_processes;
    pt_i64 window_from_ns;   /* only what lies behind it is shown: see window.h; 0 = all */
    pt_u32 n_before_window;  /* processes that had ended by then, behind the others */
    struct pt_event *states; /* of a window: what was noted before it and holds on; each feed begins with them */
    pt_u32 n_states;
    /* Of a window: what was done before it and explains what is in it. For facts; it is no event of the window, and
     * nobody counts it. */
    struct pt_event *earlier; /* who connected, who accepted, by time; also before_window's, which have no stage */
    pt_u32 n_earlier;
    struct pt_event *earlier_starts; /* thread_start: which pthread_t a thread has, by process */
    pt_u32 n_earlier_starts;
    struct pt_quality quality; /* sum */
    char **notes; /* sentences that say how far to trust it: clocks joined by guess, foreign files skipped ... */
    pt_u32 n_notes;
    const char
        *why_no_run; /* why nothing is known of the launcher that there was; NULL = it is known, or there was none */
    bool is_out_of_sight;     /* the run goes on where its processes cannot be seen, as in a container */
    pt_u32 n_ignored_options; /* of the notes: settings that had no effect */
};

#endif
