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
/* After all segments: order blocks, drop duplicates, look into raw buffers, count what is missing. */
void pt_index_streams(struct pt_trace_file *file);

#endif
