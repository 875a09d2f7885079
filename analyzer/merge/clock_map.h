/* SPDX-License-Identifier: MIT
 *
 * clock_map.h - one timeline from the clocks of all files.
 *
 * Files of one boot share the machine's TSC: one line is fitted through all their clock pairs. Files timed by
 * CLOCK_MONOTONIC join by ns. Files of other machines join by wall time, and a note says so; also those of another time
 * namespace, where CLOCK_MONOTONIC is another one.
 */
#ifndef PT_MERGE_CLOCK_MAP_H
#define PT_MERGE_CLOCK_MAP_H

#include "decode/decode.h"
#include "util/str.h"

struct pt_clock_file {
    const struct pt_file_header *header;
    const char *name;
    pt_u64 first_ticks;          /* of its events; 0 = unknown */
    struct pt_clock_scale scale; /* out: ticks of this file -> ns since the session's start */
    pt_i64 namespace_ns;         /* out: how far its CLOCK_MONOTONIC is ahead of the others', in a time namespace */
    pt_i64 start_ns;             /* out: when the file begins */
    pt_i64 early_ns;             /* out: how long before its first clock pair that is */
    pt_i64 last_ns;              /* out: the last clock pair or the end that the header holds */
};

/* Fills `scale`, `start_ns`, `last_ns` of each file. What is doubtful is appended to `notes`, a sentence per line. */
void pt_clock_map(struct pt_clock_file *files, size_t n, pt_u64 *ret_start_realtime_ns, struct pt_str *notes);

#endif
