/* SPDX-License-Identifier: MIT
 *
 * session_stream.h - all events of a session in their order.
 */
#ifndef PT_MODEL_SESSION_STREAM_H
#define PT_MODEL_SESSION_STREAM_H

#include "merge/stream.h"
#include "session_types.h"

/* All events of a session, merged over processes, threads and streams. Decodes blocks in parallel, holds a bounded
 * number of blocks per thread in memory. NULL on error. The session outlives the stream. */
struct pt_stream *pt_session_stream(struct pt_session *session, const struct pt_filter *filter, struct pt_error *err);

#endif
