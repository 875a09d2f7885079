/* SPDX-License-Identifier: MIT
 *
 * ahead.h - a stream whose events are put in order by a thread of its own, while the caller looks at those before.
 */
#ifndef PT_MERGE_AHEAD_H
#define PT_MERGE_AHEAD_H

#include "stream.h"

/* Takes `from` over. Whatever reads events must not use what the sources fill in while they are read (quality
 * figures) before the end. Where no thread can be had, this is `from` itself. */
struct pt_stream *pt_stream_ahead(struct pt_stream *from);

#endif
