/* SPDX-License-Identifier: MIT
 *
 * session_feed.h - all events of a session in their order.
 */
#ifndef PT_MODEL_SESSION_FEED_H
#define PT_MODEL_SESSION_FEED_H

#include "merge/feed.h"
#include "session_types.h"

/* All events of a session, merged over processes, threads and buffers. Decodes blocks in parallel, holds a bounded
 * number of blocks per thread in memory. NULL on error. The session outlives the feed. */
struct pt_feed *pt_session_feed(struct pt_session *session, const struct pt_filter *filter, struct pt_error *err);

#endif
