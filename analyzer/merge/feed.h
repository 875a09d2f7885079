/* SPDX-License-Identifier: MIT
 *
 * feed.h - the pull interface: what analyses and exports read is a feed of events in the order of pt_event_end_ns,
 * ties broken by process, thread and position, so that the same input gives the same output.
 */
#ifndef PT_MERGE_FEED_H
#define PT_MERGE_FEED_H

#include <stdbool.h>

#include "decode/event.h"
#include "util/error.h"

struct pt_feed {
    /* 1 = an event was delivered; 0 = end; -1 = error, in err. Damaged blocks are not errors: they are counted in the
     * process's quality figures and the feed goes on. */
    int (*next)(struct pt_feed *self, struct pt_event *ret_event, struct pt_error *err);
    void (*close)(struct pt_feed *self);
};

/* What to deliver. Zero-initialised = everything. */
struct pt_filter {
    pt_u32 categories;                /* PT_CATEGORY_ bits; 0 = all */
    pt_i64 from_ns, until_ns;         /* overlap with [from, until); until 0 = no limit */
    pt_u32 pid;                       /* 0 = all */
    const struct pt_process *process; /* only of this image; NULL = all */
    const struct pt_thread *thread;   /* with `process`: only what is in its slot; NULL = all */
    pt_i64 min_duration_ns;
    pt_u32 long_categories; /* of which min_duration_ns is asked; 0 = all */
    const char *stage;      /* NULL = all */
    bool cuts;              /* a span that began before from_ns begins there */
    bool as_stored; /* calls that CUPTI reported stay with the slot that holds them, not with the thread that made them
                     */
};

static inline void pt_feed_closep(struct pt_feed **feed)
{
    if (*feed)
        (*feed)->close(*feed);
}

#endif
