/* SPDX-License-Identifier: MIT
 *
 * scan.h - the thread areas, definitions and blocks in the segments of a file, in the order of the file.
 */
#ifndef PT_SOURCE_SCAN_H
#define PT_SOURCE_SCAN_H

#include "trace_file.h"

void pt_scan_segments(struct pt_trace_file *file);

#endif
