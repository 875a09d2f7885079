/* SPDX-License-Identifier: MIT
 *
 * open.h - from a path to a trace file whose definitions and blocks are found, checked and in order.
 */
#ifndef PT_SOURCE_OPEN_H
#define PT_SOURCE_OPEN_H

#include "util/error.h"
#include "trace_file.h"

/* NULL with exit code 3 when it is no trace file, a newer format, or its header is damaged. Damage after the header
 * is counted. */
struct pt_trace_file *pt_trace_file_open(const char *path, struct pt_error *err);
/* True for a file whose process ended before it had written the first byte: nothing is wrong with it. */
bool pt_trace_file_is_blank(const char *path);

#endif
