/* SPDX-License-Identifier: MIT
 *
 * timeline/types.h - a run as processes, tracks, slices, arrows and counters: what all timeline formats have in common.
 *
 * One walk over the events decides what is shown, where and under which name; a writer (chrome.c, perfetto.c) puts it
 * into its format. So two formats of one run show the same.
 */
#ifndef PT_EXPORT_TIMELINE_TYPES_H
#define PT_EXPORT_TIMELINE_TYPES_H

#include "decode/event.h"
#include "export/export.h"
#include "export/out/put.h"
#include "export/selection.h"
#include "util/map.h"
#include "util/vec.h"
#include "ids.h"
#include "live_heap.h"
#include "nesting.h"

struct pt_timeline;
struct pt_timeline_gpu;  /* gpu.h */
struct pt_timeline_lane; /* lanes.h */
struct pt_timeline_process;

/* A line of the timeline: slices on it nest. */
struct pt_timeline_track {
    struct pt_timeline_process *process;
    struct pt_nesting nesting;
    struct pt_timeline_track *beside; /* the thread's own track, where this one takes what that cannot; else NULL */
    const char *group;                /* "GPU 0"; NULL = directly under the process */
    char name[64];
    pt_u32 tid;        /* in the viewer */
    pt_u32 thread_tid; /* of the thread whose own track it is; 0 = no thread's */
    pt_u32 order;
    bool is_used;
    pt_u64 uuid;             /* the Perfetto writer's */
    struct pt_put_text head; /* the Chrome writer's: how each slice begins */
};

/* Tracks for slices that may overlap: each goes to the first with room. */
#define PT_TIMELINE_TRACKS 16
struct pt_timeline_tracks {
    struct pt_timeline_track *tracks[PT_TIMELINE_TRACKS];
    pt_u32 limit; /* 1 .. PT_TIMELINE_TRACKS */
};

/* ---- what a writer is given ---- */

struct pt_timeline_arg {
    const char *key;
    const char *text; /* NULL = a number */
    pt_i64 number;
};

struct pt_timeline_place {
    const struct pt_timeline_track *track;
    pt_i64 at_ns;
};

/* That begin at one slice: what a message of Perfetto has room for. */
enum { PT_TIMELINE_MOST_ARROWS = 512 };

struct pt_timeline_slice {
    struct pt_timeline_track *track;
    pt_i64 start_ns, end_ns;      /* an instant: equal */
    const struct pt_event *event; /* gives category, name and fields; NULL = none of them */
    const char *category, *name;  /* NULL = the event's */
    pt_u64 name_key;              /* equal keys, equal names; 0 = compare the texts */
    bool with_strings;            /* of the event's fields */
    bool was_opened;              /* the writer already got its beginning */
    bool is_of_process;           /* an instant that concerns the whole process */
    pt_u64 arrow_from, arrow_to;  /* ids of arrows that begin and end here; 0 = none */
    /* The arrow from a call to the work that it started: written after both slices, because a reader attaches an
     * arrow to another slice when its own, of no length, comes later. No track = none. */
    struct pt_timeline_place call, work;
    const pt_u64 *arrows_from; /* more that begin here */
    pt_u32 n_arrows_from;
    const struct pt_timeline_arg *args; /* beside the event's fields */
    pt_u32 n_args;
};

enum pt_timeline_unit { PT_TIMELINE_UNIT_NONE, PT_TIMELINE_UNIT_COUNT, PT_TIMELINE_UNIT_BYTES };

struct pt_timeline_counter {
    struct pt_timeline_process *process;
    const char *name, *series;
    pt_u64 key; /* of the name, in the process; not 0 */
    enum pt_timeline_unit unit;
};

/* Keys of counters that every process has; keys of the programs' own names come after them. */
enum pt_timeline_key {
    PT_TIMELINE_KEY_HEAP = 1,
    PT_TIMELINE_KEY_THREADS,
    PT_TIMELINE_KEY_DEPTH,
    PT_TIMELINE_KEY_MEMORY = 1 << 8, /* plus a number */
    PT_TIMELINE_KEY_SAMPLE = 1 << 16
};
#define PT_TIMELINE_KEY_NAME(id) (1ull << 32 | (id))

struct pt_timeline_writer {
    size_t state_bytes; /* zeroed, for the time of the export */
    bool in_order;      /* of slices that begin at one instant it needs the outer one first */
    void (*open)(struct pt_timeline *timeline);
    void (*process)(struct pt_timeline *timeline, struct pt_timeline_process *process, const char *title,
                    const char *labels);
    void (*track)(struct pt_timeline *timeline, struct pt_timeline_track *track); /* before its first slice */
    /* A slice begins whose end is not known yet; NULL = the writer needs whole slices. */
    void (*opened)(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
    void (*slice)(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
    void (*instant)(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
    void (*counter)(struct pt_timeline *timeline, const struct pt_timeline_counter *counter, pt_i64 at_ns,
                    pt_f64 value);
    /* An arrow of which both ends are known; NULL = ids in the slices are enough. */
    void (*arrow)(struct pt_timeline *timeline, const char *category, const char *name,
                  const struct pt_timeline_place *from, const struct pt_timeline_place *to);
    void (*close)(struct pt_timeline *timeline);
    void (*free)(void *state); /* what the state owns; NULL = nothing */
};

/* ---- the state of the walk ---- */

/* A range that may overlap others (range_open). */
struct pt_timeline_open_range {
    pt_u64 id;
    pt_i64 start_ns;
    pt_u32 name;
};

/* What a thread called itself, as far as it is known: the last name that it had. Numbers come again. */
struct pt_timeline_thread_name {
    pt_u32 pid, tid;
    pt_i64 start_ns; /* of the thread */
    const char *name;
};

struct pt_timeline_process {
    struct pt_timeline *timeline;
    struct pt_process *process;
    bool is_shown;
    bool is_linked; /* an arrow leads to it */
    pt_u32 pid;
    pt_u64 uuid;              /* the Perfetto writer's */
    pt_i64 start_ns, end_ns;  /* around all that is known of it */
    pt_i64 from_ns, until_ns; /* cut to the window */
    struct pt_timeline_track *main_track;
    bool has_own_main_track;         /* its main thread is not known */
    struct pt_timeline_lane **lanes; /* by thread index; NULL = nothing shown yet */
    struct pt_timeline_counter heap_counter;
    struct pt_live_heap heap;
    struct pt_timeline_gpu *gpu; /* NULL = nothing yet */
    struct pt_timeline_tracks ranges;
    struct {
        PT_VEC(struct pt_timeline_open_range);
    } open_ranges;
    pt_u64 arrow_to; /* id of the arrow that ends here */
    struct {
        PT_VEC(pt_u64);
    } arrows_from; /* to children of which no event of this process says that it made them */
};

struct pt_timeline {
    const struct pt_timeline_writer *writer;
    void *state; /* the writer's */
    struct pt_sink *sink;
    struct pt_export_summary *summary;
    struct pt_session *session;
    struct pt_window window;
    pt_i64 min_duration_ns;
    struct pt_timeline_ids ids;
    struct pt_timeline_process *processes; /* by process index */
    struct pt_timeline_process stages;     /* for the launcher's samples */
    pt_u32 n_processes;
    pt_u32 *by_pid; /* process indices by pid, then start */
    struct pt_block_room room;
    pt_u64 n_arrows;
    struct {
        PT_VEC(struct pt_timeline_thread_name);
    } thread_names; /* by pid, tid and start */
    struct pt_intern texts;
};

#endif
