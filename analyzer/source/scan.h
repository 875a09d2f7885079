/* SPDX-License-Identifier: MIT
 *
 * scan.h - what lies in the segments of a file: thread areas, definitions and blocks, as they come.
 */
#ifndef PT_SOURCE_SCAN_H
#define PT_SOURCE_SCAN_H

#include "trace_file.h"

void pt_scan_segments(struct pt_trace_file *file);

#endif
