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

/* The first part of a process's own file, by offsets in it. Until that is made only the head lies in a file, the rest
 * is memory of ours.
 *
 *   head: header, text, first definitions, first records, area up to PT_AREA_SMALL_BYTES | its other fields |
 *   records | heap units | more definitions | a BLOCKS segment | a text that is too long for the head | the schema
 *
 * In memory, all from the records on lies below the head: a hook that was interrupted between reserving a slot behind
 * the end of the first records and comparing it with the end must not find it below the new end. */
#define PT_FIRST_SMALL_RECORDS 104u
#define PT_FIRST_SMALL_RECORDS_AT (PT_HEAD_AREA_AT - PT_FIRST_SMALL_RECORDS * (pt_u32)sizeof(struct pt_record))
#define PT_FIRST_TEXT_MOST_BYTES 1024u
#define PT_FIRST_DEFS_BYTES 8192u
#define PT_FIRST_RECORDS_AT ((PT_HEAD_AREA_AT + PT_THREAD_HEADER_BYTES + PT_PAGE_BYTES - 1) & ~(PT_PAGE_BYTES - 1u))
pt_u64 pt_first_area_bytes(void);
pt_u64 pt_first_defs_at(void);
pt_u64 pt_first_text_at(void);
pt_u64 pt_first_bytes(void);     /* of all but the schema */
pt_u64 pt_first_low_bytes(void); /* of that, what lies below the head in memory: from PT_FIRST_RECORDS_AT on */
char *pt_first_in_memory(char *head, pt_u64 at);
const char *pt_first_text(void); /* of the process that records: enum pt_text_item */
void pt_first_area_set_up(struct pt_tracer_thread *t, char *head, int is_in_own_file);
/* From now on the thread's records are stored behind the head. Call before the buffer's sequence is stored. */
void pt_first_area_leave_head(struct pt_tracer_thread *t, char *head);

/* Lay out zeroed memory of pt_area_bytes() as the slot's area; the segment's magic is stored last. */
void pt_area_set_up(struct pt_tracer_thread *t, char *memory);

#endif
