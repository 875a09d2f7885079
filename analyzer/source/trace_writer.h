/* SPDX-License-Identifier: MIT
 *
 * trace_writer.h - a valid *.ptr made outside a traced process: what `assemble` and the tests write.
 *
 *     struct pt_trace_writer *w = pt_trace_writer_new();
 *     *pt_writer_header(w) = ...fields of the process; the clock is MONOTONIC, 1 tick = 1 ns...
 *     pt_writer_text(w, texts, n);                        // enum pt_text, argv onwards
 *     struct pt_thread_area *area = pt_writer_area(w, slot);
 *     pt_writer_record(w, slot, life, tid, &record);      // in the order of the thread; stamp's generation is ignored
 *     pt_writer_save(w, "x.ptr", err);
 *     pt_trace_writer_free(w);
 *
 * Totals are the caller's: fill pt_writer_area(w, slot)->totals[0]; both banks are written and cover everything.
 */
#ifndef PT_SOURCE_TRACE_WRITER_H
#define PT_SOURCE_TRACE_WRITER_H

#include <stdbool.h>

#include "proftrace/format.h"
#include "util/error.h"
#include "minutes.h"

struct pt_trace_writer;
struct pt_trace_writer *pt_trace_writer_new(void);
void pt_trace_writer_free(struct pt_trace_writer *writer);

struct pt_file_header *pt_writer_header(struct pt_trace_writer *writer);
void pt_writer_text(struct pt_trace_writer *writer, const char *const *texts, pt_u32 n);
struct pt_thread_area *pt_writer_area(struct pt_trace_writer *writer, pt_u32 slot);

/* Any definition; `ticks` = when. */
void pt_writer_define(struct pt_trace_writer *writer, pt_u16 type, pt_u32 id, pt_u64 ticks, const void *payload,
                      pt_u32 bytes);
/* The id of a string or stack, defined at its first use. */
pt_u32 pt_writer_string(struct pt_trace_writer *writer, const char *bytes, pt_u32 n);
pt_u32 pt_writer_stack(struct pt_trace_writer *writer, const pt_u64 *frames, pt_u32 n);
void pt_writer_module(struct pt_trace_writer *writer, const struct pt_def_module *module, pt_u64 ticks,
                      const void *build_id, const char *path);

void pt_writer_record(struct pt_trace_writer *writer, pt_u32 slot, pt_u32 life, pt_u32 tid,
                      const struct pt_record *record);
/* What is in totals and has no record of its own: a row of totals by minute. Needs pt_file_header.minute_ns. */
void pt_writer_minutes(struct pt_trace_writer *writer, pt_u32 slot, const struct pt_minutes_entry *entry);
/* A heap unit at an instant: a clock unit is put before it, so that its time is exact. */
void pt_writer_unit(struct pt_trace_writer *writer, pt_u32 slot, pt_u32 life, pt_u32 tid, pt_u64 ticks,
                    struct pt_unit16 unit);
/* A unit as it is, clock units included: for tests of interpolation. */
void pt_writer_plain_unit(struct pt_trace_writer *writer, pt_u32 slot, pt_u32 life, pt_u32 tid, struct pt_unit16 unit);

/* How the next blocks are stored; default PT_CODING_ZSTD. */
void pt_writer_coding(struct pt_trace_writer *writer, enum pt_block_coding coding);
/* End the current block of both buffers of a slot. */
void pt_writer_flush(struct pt_trace_writer *writer, pt_u32 slot);
/* What is not yet flushed stays in raw buffers, as in a process that was killed. */
void pt_writer_keep_raw(struct pt_trace_writer *writer, bool keep);

/* The whole file in memory, valid until the writer is freed or changed. */
const pt_u8 *pt_writer_finish(struct pt_trace_writer *writer, pt_u64 *ret_bytes);
int pt_writer_save(struct pt_trace_writer *writer, const char *path, struct pt_error *err);

#endif
