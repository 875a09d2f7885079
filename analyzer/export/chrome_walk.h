/* SPDX-License-Identifier: MIT
 *
 * chrome_walk.h - what the Chrome exporter knows while it walks over the events: processes and the rows of their
 * threads.
 */
#ifndef PT_EXPORT_CHROME_WALK_H
#define PT_EXPORT_CHROME_WALK_H

#include "../util/auto.h"
#include "chrome_event.h"
#include "chrome_ids.h"
#include "live_heap.h"
#include "track.h"

/* Row 0 shows a thread; the others take what overlaps there (calls made in signal handlers need not nest). After them:
 * steps. */
#define PT_CHROME_ROWS 4

struct pt_chrome_period {
    bool is_open;
    pt_u64 number;
    pt_i64 start_ns;
};

struct pt_chrome_lane {
    struct pt_thread *thread;
    struct pt_chrome_process *process;
    pt_u32 tids[PT_CHROME_ROWS + 1];              /* 0 = row not used yet */
    struct pt_put_text heads[PT_CHROME_ROWS + 1]; /* how each slice of a row begins */
    struct pt_track rows[PT_CHROME_ROWS];
    struct pt_chrome_period step, epoch;
    struct pt_chrome_period exec; /* number = string id of the program */
};

struct pt_chrome_process {
    struct pt_chrome *chrome;
    struct pt_process *process;
    bool is_shown;
    bool is_linked; /* an arrow leads to it */
    pt_u32 pid, main_tid;
    pt_i64 start_ns, end_ns;       /* around all that is known of it */
    pt_i64 from_ns, until_ns;      /* the part in the window */
    struct pt_chrome_lane **lanes; /* by thread index; NULL = nothing shown yet */
    struct pt_live_heap heap;
};

struct pt_chrome {
    struct pt_chrome_out out;
    struct pt_session *session;
    pt_i64 from_ns, until_ns, min_duration_ns;
    struct pt_chrome_ids ids;
    struct pt_chrome_process *processes; /* by process index */
    pt_u32 n_processes;
    pt_u32 *by_pid; /* process indices by pid, then start */
    struct pt_block_room room;
};

/* Header of the file, and of each process its names and the slice of its life. */
void pt_chrome_open(struct pt_chrome *chrome, struct pt_session *session, const struct pt_filter *filter);
/* What was open, the arrows that no event told, names of the rows, the end of the file. Frees everything. */
void pt_chrome_close(struct pt_chrome *chrome);
/* How much time the file shows. */
pt_i64 pt_chrome_shown_ns(const struct pt_chrome *chrome);
/* In chrome.c: ends what is open in a process. */
void pt_chrome_finish_process(struct pt_chrome *chrome, struct pt_chrome_process *process);

/* The rows of the event's thread. */
struct pt_chrome_lane *pt_chrome_lane(struct pt_chrome *chrome, const struct pt_event *event);
pt_u32 pt_chrome_lane_tid(struct pt_chrome *chrome, struct pt_chrome_lane *lane, int row);

/* The process that a fork or spawn at `at_ns` made, if it is shown and no arrow leads to it yet. */
struct pt_chrome_process *pt_chrome_find_child(struct pt_chrome *chrome, const struct pt_chrome_process *parent,
                                               pt_i32 child_pid, pt_i64 at_ns);
struct pt_chrome_process *pt_chrome_next_image(struct pt_chrome *chrome, const struct pt_chrome_process *process);

#endif
