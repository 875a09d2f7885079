/* SPDX-License-Identifier: MIT
 *
 * minutes.h - the totals of each thread by minute, which are never overwritten.
 */
#ifndef PT_CORE_FILE_MINUTES_H
#define PT_CORE_FILE_MINUTES_H

#include "core/private.h"

/* Before the first record: by now it is known better at which tick the open minute ends. */
void pt_minutes_begin(struct pt_tracer_thread *t);

/* On the private stack, while a full buffer of records is added up: `totals` hold all records before the one that ended
 * at `end_ticks`, which is not before the end of the open minute. Writes the row of that minute. */
void pt_minutes_pass(struct pt_tracer_thread *t, const struct pt_totals *totals, pt_u64 end_ticks);

/* After the last record: what is counted without events, where minutes have passed. */
void pt_minutes_end(struct pt_tracer_thread *t);

#endif
