/* SPDX-License-Identifier: MIT
 *
 * time_part.h - the parts of the time account, and which part a recorded span belongs to.
 */
#ifndef PT_ANALYSIS_TIME_PART_H
#define PT_ANALYSIS_TIME_PART_H

#include "analysis.h"

enum pt_time_part {
#define PART(id, label) PT_PART_##id,
#include "time_parts.def"
#undef PART
    PT_PART__COUNT
};

struct pt_time_part_row {
    const char *id, *key, *metric, *label; /* lock, lock_s, time.lock_s, Locks */
};

/* By enum pt_time_part. */
extern const struct pt_time_part_row pt_time_parts[PT_PART__COUNT];

/* What is at the other end of a descriptor, as far as its path tells. */
enum pt_channel { PT_CHANNEL_FILE, PT_CHANNEL_LOCAL /* pipe, socketpair, unix socket */, PT_CHANNEL_NETWORK };
enum pt_channel pt_channel_of_path(const char *path);

/* The part of the calls of a row when nothing more is known of them; PT_PART_unattributed = none of ours. */
enum pt_time_part pt_time_part_of_row(pt_u32 row);

/* Whether a wait is that of an event loop (epoll): for whatever comes first. */
bool pt_is_event_loop(const struct pt_event *event, const char *path);
/* Does the call end with a signal, however long that takes: sigsuspend of timeout(1), pselect of make -j? A program
 * that waits for its child this way does not sleep. */
bool pt_waits_for_signals(const struct pt_event *event);

/* The part of one span; *ret_path is what its descriptor is; NULL = none or unknown. */
enum pt_time_part pt_time_part_of_event(const struct pt_event *event, const char **ret_path);

#endif
