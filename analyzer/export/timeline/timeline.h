/* SPDX-License-Identifier: MIT
 *
 * timeline.h - a run as processes, rows, slices, arrows and counters: what all timeline formats have in common.
 *
 * One walk over the events decides what is shown, where and under which name; a writer (chrome.c, perfetto.c) says how
 * that looks in its format. So two formats of one run show the same.
 */
#ifndef PT_EXPORT_TIMELINE_TIMELINE_H
#define PT_EXPORT_TIMELINE_TIMELINE_H

#include "decode/event.h"
#include "export/chrome/ids.h"
#include "export/export.h"
#include "export/out/put.h"
#include "util/map.h"
#include "util/vec.h"
#include "live_heap.h"
#include "track.h"

struct pt_timeline;
struct pt_timeline_process;

/* ---- rows ---- */

/* A row: slices on it nest. */
struct pt_timeline_row {
    struct pt_timeline_process *process;
    struct pt_track track;
    struct pt_timeline_row
        *beside;       /* it takes what the row of this thread cannot; NULL = it is a thread's own, or none's */
    const char *group; /* "GPU 0"; NULL = directly under the process */
    char name[64];
    pt_u32 tid;        /* in the viewer */
    pt_u32 thread_tid; /* of the thread whose own row it is; 0 = no thread's */
    pt_u32 order;
    bool is_used;
    pt_u64 uuid;             /* the Perfetto writer's */
    struct pt_put_text head; /* the Chrome writer's: how each slice begins */
};

/* Rows for slices that may overlap: each goes to the first with room. */
#define PT_TIMELINE_ROWS 16
struct pt_timeline_rows {
    struct pt_timeline_row *rows[PT_TIMELINE_ROWS];
    pt_u32 limit; /* 1 .. PT_TIMELINE_ROWS */
};

struct pt_timeline_arg {
    const char *key;
    const char *text; /* NULL = a number */
    pt_i64 number;
};

struct pt_timeline_place {
    const struct pt_timeline_row *row;
    pt_i64 at_ns;
};

struct pt_timeline_slice {
    struct pt_timeline_row *row;
    pt_i64 start_ns, end_ns;      /* an instant: equal */
    const struct pt_event *event; /* gives category, name and fields; NULL = none of them */
    const char *category, *name;  /* NULL = the event's */
    pt_u64 name_key;              /* equal keys, equal names; 0 = compare the texts */
    bool with_strings;            /* of the event's fields */
    bool was_opened;              /* the writer was told when it began */
    bool is_of_process;           /* an instant that concerns the whole process */
    pt_u64 arrow_from, arrow_to;  /* ids of arrows that begin and end here; 0 = none */
    /* Of a call and the work that it started: told behind the second of both, because readers take an arrow for that of
     * another slice when its own, of no length, comes later. No row = none. */
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

struct pt_timeline_writer {
    size_t state_bytes; /* zeroed, for the time of the export */
    bool in_order;      /* of slices that begin at one instant the outer one has to be told first */
    void (*open)(struct pt_timeline *timeline);
    void (*process)(struct pt_timeline *timeline, struct pt_timeline_process *process, const char *title,
                    const char *labels);
    void (*row)(struct pt_timeline *timeline, struct pt_timeline_row *row); /* before its first slice */
    /* A slice begins whose end is not known yet; NULL = the writer needs whole ones. */
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

/* ---- GPU work of a process: timeline/gpu.c ---- */

struct pt_timeline_link; /* a launch or its work, waiting for the other */

struct pt_timeline_queue {
    struct pt_timeline_rows rows;
    struct pt_timeline_device *device;
    pt_u32 context;
    pt_i64 stream;
    pt_u32 order;
};

struct pt_timeline_device {
    struct pt_timeline_process *process;
    pt_u32 number, first_context;
    char group[160];
    struct pt_timeline_rows syncs;
};

struct pt_timeline_memory {
    struct pt_timeline_counter counter;
    struct pt_thinned series;
    pt_u64 bytes;
    char name[64];
};

struct pt_timeline_gpu {
    struct pt_map queues, places; /* by string id: struct pt_timeline_queue *, struct pt_timeline_memory * */
    struct pt_map memories;       /* by key: the same, each once */
    struct pt_map devices;        /* by number: struct pt_timeline_device * */
    struct pt_map kernels;        /* by string id: names as people write them */
    struct pt_timeline_rows overheads;
    struct pt_timeline_link *links;
    struct pt_timeline_counter depth_counter;
    struct pt_thinned depth;
    pt_u64 n_waiting;
    bool depth_is_unknown; /* records were lost: what was launched may have ended */
};

/* ---- processes and threads ---- */

struct pt_timeline_period {
    bool is_open;
    pt_u64 number;
    pt_i64 start_ns;
};

struct pt_timeline_lane {
    struct pt_thread *thread;
    struct pt_timeline_process *process;
    struct pt_timeline_rows rows;  /* what overlaps there (calls made in signal handlers need not nest) lies beside */
    struct pt_timeline_row *steps; /* NULL = not needed yet */
    struct pt_timeline_period step, epoch;
    struct pt_timeline_period exec; /* number = string id of the program */
};

/* A range that may overlap others (range_open). */
struct pt_timeline_open_range {
    pt_u64 id;
    pt_i64 start_ns;
    pt_u32 name;
};

struct pt_timeline_process {
    struct pt_timeline *timeline;
    struct pt_process *process;
    bool is_shown;
    bool is_linked; /* an arrow leads to it */
    pt_u32 pid;
    pt_u64 uuid;              /* the Perfetto writer's */
    pt_i64 start_ns, end_ns;  /* around all that is known of it */
    pt_i64 from_ns, until_ns; /* the part in the window */
    struct pt_timeline_row *main_row;
    bool has_own_main_row;           /* its main thread is not known */
    struct pt_timeline_lane **lanes; /* by thread index; NULL = nothing shown yet */
    struct pt_timeline_counter heap_counter;
    struct pt_live_heap heap;
    struct pt_timeline_gpu *gpu; /* NULL = nothing yet */
    struct pt_timeline_rows ranges;
    struct {
        PT_VEC(struct pt_timeline_open_range);
    } open_ranges;
    pt_u64 arrow_to; /* of the one that leads to it */
    struct {
        PT_VEC(pt_u64);
    } arrows_from; /* to children that no event told */
};

struct pt_timeline {
    const struct pt_timeline_writer *writer;
    void *state; /* the writer's */
    struct pt_sink *sink;
    struct pt_export_summary *summary;
    struct pt_session *session;
    pt_i64 from_ns, until_ns, min_duration_ns;
    struct pt_chrome_ids ids;
    struct pt_timeline_process *processes; /* by process index */
    struct pt_timeline_process stages;     /* holds the launcher's samples */
    pt_u32 n_processes;
    pt_u32 *by_pid; /* process indices by pid, then start */
    struct pt_block_room room;
    pt_u64 n_arrows;
};

/* ---- the walk: timeline.c ---- */

int pt_timeline_export(struct pt_session *session, const struct pt_export_options *options,
                       const struct pt_timeline_writer *writer, struct pt_sink *sink,
                       struct pt_export_summary *ret_summary, struct pt_error *err);
/* Ends what is open in a process. */
void pt_timeline_finish_process(struct pt_timeline *timeline, struct pt_timeline_process *process);
/* The part of a slice that lies in the window asked for; false when none does. */
bool pt_timeline_clip(const struct pt_timeline *timeline, pt_i64 *start_ns, pt_i64 *end_ns);
bool pt_timeline_in_window(const struct pt_timeline *timeline, pt_i64 at_ns);

/* ---- the frame: timeline/frame.c ---- */

/* Header of the file, and of each process its names. */
void pt_timeline_open(struct pt_timeline *timeline, struct pt_session *session, const struct pt_filter *filter);
/* What was open, the lives of the processes, the arrows that no event told, the end of the file. Frees everything. */
void pt_timeline_close(struct pt_timeline *timeline);
/* How much time the file shows. */
pt_i64 pt_timeline_shown_ns(const struct pt_timeline *timeline);
/* The process that a fork or spawn at `at_ns` made, if it is shown and no arrow leads to it yet. */
struct pt_timeline_process *pt_timeline_find_child(struct pt_timeline *timeline,
                                                   const struct pt_timeline_process *parent, pt_i32 child_pid,
                                                   pt_i64 at_ns);
struct pt_timeline_process *pt_timeline_next_image(struct pt_timeline *timeline,
                                                   const struct pt_timeline_process *process);

/* ---- rows: timeline/rows.c ---- */

struct pt_timeline_lane *pt_timeline_lane(struct pt_timeline *timeline, const struct pt_event *event);
struct pt_timeline_lane *pt_timeline_lane_at(struct pt_timeline_process *process, pt_u32 thread_index);
/* The row of a thread itself, which all slices that nest lie on. */
struct pt_timeline_row *pt_timeline_thread_row(struct pt_timeline_lane *lane);
/* A new row of the process, to be named by the caller. */
struct pt_timeline_row *pt_timeline_row_new(struct pt_timeline_process *process, pt_u32 order);
/* The first row with room, which may move the slice by what rounding put it wrong; NULL when none has. `make` gives the
 * row at an index that has none yet. */
struct pt_timeline_row *pt_timeline_place(struct pt_timeline *timeline, struct pt_timeline_rows *rows,
                                          struct pt_timeline_row *(*make)(void *context, pt_u32 index), void *context,
                                          pt_i64 *start_ns, pt_i64 *end_ns);
struct pt_timeline_row *pt_timeline_lane_place(struct pt_timeline *timeline, struct pt_timeline_lane *lane,
                                               pt_i64 *start_ns, pt_i64 *end_ns);
void pt_timeline_rows_free(struct pt_timeline_rows *rows);
void pt_timeline_row_free(struct pt_timeline_row *row);
void pt_timeline_lane_free(struct pt_timeline_lane *lane);

/* Tell the writer, count. */
void pt_timeline_show(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
void pt_timeline_show_opened(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
void pt_timeline_show_instant(struct pt_timeline *timeline, const struct pt_timeline_slice *slice);
void pt_timeline_show_counter(struct pt_timeline *timeline, const struct pt_timeline_counter *counter, pt_i64 at_ns,
                              pt_f64 value);
/* The points that are left of a series are the counter's; at most so many buckets. The counter outlives the series. */
void pt_timeline_show_series(struct pt_thinned *series, struct pt_timeline_counter *counter, pt_i64 buckets);
void pt_timeline_show_arrow(struct pt_timeline *timeline, const char *category, const char *name,
                            const struct pt_timeline_place *from, const struct pt_timeline_place *to);
/* An arrow from a place to a process that was made there; the id for the slice there, 0 = it would point back in time.
 */
pt_u64 pt_timeline_link_process(struct pt_timeline *timeline, const char *what, const struct pt_timeline_place *from,
                                struct pt_timeline_process *made);

/* Keys of counters that every process has; names that programs give come after them. */
enum pt_timeline_key {
    PT_TIMELINE_KEY_HEAP = 1,
    PT_TIMELINE_KEY_THREADS,
    PT_TIMELINE_KEY_DEPTH,
    PT_TIMELINE_KEY_MEMORY = 1 << 8, /* plus a number */
    PT_TIMELINE_KEY_SAMPLE = 1 << 16
};
#define PT_TIMELINE_KEY_NAME(id) (1ull << 32 | (id))

/* ---- timeline/gpu.c, timeline/ranges.c, timeline/samples.c ---- */

/* A GPU event; false when it is none. */
bool pt_timeline_gpu_event(struct pt_timeline *timeline, struct pt_timeline_process *process,
                           const struct pt_event *event);
/* A call that may have started work: the arrow that begins there goes into its slice. */
void pt_timeline_gpu_call(struct pt_timeline *timeline, struct pt_timeline_slice *slice);
struct pt_timeline_gpu *pt_timeline_gpu_of(struct pt_timeline_process *process);
/* A launch was made (+1) or has run (-1). */
void pt_timeline_gpu_depth(struct pt_timeline_process *process, pt_i64 at_ns, int step);
void pt_timeline_gpu_memory(struct pt_timeline_process *process, const struct pt_event *event);
void pt_timeline_gpu_counters_free(struct pt_timeline_gpu *gpu);
void pt_timeline_gpu_finish(struct pt_timeline_process *process);
void pt_timeline_gpu_free(struct pt_timeline_process *process);

void pt_timeline_range_open(struct pt_timeline_process *process, const struct pt_event *event);
void pt_timeline_range_close(struct pt_timeline *timeline, struct pt_timeline_process *process,
                             const struct pt_event *event);
void pt_timeline_ranges_finish(struct pt_timeline *timeline, struct pt_timeline_process *process);

/* The launcher's samples of each stage as counters. */
void pt_timeline_samples(struct pt_timeline *timeline, const struct pt_filter *filter);

#endif
