/* SPDX-License-Identifier: MIT
 *
 * scan.h - what pt_trace_file_open finds in the segments of a file. Internal to source/.
 */
#ifndef PT_SOURCE_SCAN_H
#define PT_SOURCE_SCAN_H

#include "trace_file.h"

void pt_scan_segments(struct pt_trace_file *file);
void pt_scan_definitions(struct pt_trace_file *file, pt_u32 slot, pt_u64 offset, pt_u64 bytes);
void pt_scan_blocks(struct pt_trace_file *file, pt_u32 segment, pt_u64 offset, pt_u64 bytes);
/* The slot's entry, made when it was not there. */
struct pt_trace_slot *pt_trace_file_slot(struct pt_trace_file *file, pt_u32 slot);
/* The first byte at or behind `at` that does not lie in a hole; the first hole behind `at`: the end of the file where
 * there is none. A file of 4 KiB may be a terabyte long. */
pt_u64 pt_scan_next_data(const struct pt_trace_file *file, pt_u64 at);
pt_u64 pt_scan_next_hole(const struct pt_trace_file *file, pt_u64 at);
/* Take a block into its stream, in the order of the file. */
void pt_index_block(struct pt_slot_stream *stream, const struct pt_block *block, pt_u64 offset, pt_u32 segment);
/* After all segments: order slots and blocks, drop duplicates, look into raw buffers, count what is missing. */
void pt_index_streams(struct pt_trace_file *file);

#endif
