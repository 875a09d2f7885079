/* SPDX-License-Identifier: MIT
 *
 * index.h - the blocks of all slots in the order of their sequence numbers.
 */
#ifndef PT_SOURCE_INDEX_H
#define PT_SOURCE_INDEX_H

#include "trace_file.h"

/* After all segments: order slots and blocks, drop duplicates, look into raw buffers, count what is missing. */
void pt_index_blocks(struct pt_trace_file *file);

#endif
