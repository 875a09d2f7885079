/* SPDX-License-Identifier: MIT
 *
 * presence.h - is the trace file still as long as what is mapped of it?
 */
#ifndef PT_CORE_FILE_PRESENCE_H
#define PT_CORE_FILE_PRESENCE_H

#include "core/compiler.h"
#include "core/thread.h"

#pragma GCC visibility push(hidden)
/* Asked at slow paths, of the pages of `t` (which may be &pt_no_thread). 0 = no: from then on nothing of the process
 * reaches the file; where its pages were is memory that nobody reads, so that stores do no harm. The image is live. */
int pt_file_is_there(const struct pt_tracer_thread *t);

/* A call that may have truncated it has returned. Any thread. */
void pt_file_look(void);

/* May these bytes be read? They may not when they are of a file that was truncated. */
int pt_is_mapped_and_there(const void *bytes, pt_u64 count);
#pragma GCC visibility pop

#endif
