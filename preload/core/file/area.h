/* SPDX-License-Identifier: MIT
 *
 * area.h - a thread's area in the trace file: how large it is, and how it is laid out.
 */
#ifndef PT_CORE_FILE_AREA_H
#define PT_CORE_FILE_AREA_H

#include "core/thread.h"

/* Bytes of a thread area in the current mode. Right behind each lie PT_OWN_CHUNK_BYTES for a BLOCKS segment: what a
 * short-lived thread leaves behind needs no growth of the file. */
pt_u64 pt_area_bytes(void);
#define PT_OWN_CHUNK_BYTES 8192u

/* Lay out zeroed memory of that size as the slot's area; the segment's magic is stored last. */
void pt_area_set_up(struct pt_tracer_thread *t, char *memory);

#endif
