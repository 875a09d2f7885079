/* SPDX-License-Identifier: MIT
 *
 * io/call_gaps.h - what a program does between two calls of a kind: the interpreter's work around a call goes away
 * with the call, and a short gap between two such calls of one thread is little else. A longer gap after very many
 * short ones is a time slice that another program had: it goes away with the loop.
 */
#ifndef PT_ANALYSIS_IO_CALL_GAPS_H
#define PT_ANALYSIS_IO_CALL_GAPS_H

#include <stdbool.h>

#include "model/session.h"

/* Zeroed = empty. Holds one time per thread of the processes that make such calls. */
struct pt_gaps {
    struct pt_gap_thread {
        pt_i64 end_ns; /* of the last call, + 1; 0 = the last call was of another kind */
        pt_u32 short_ones;
    } * *threads; /* by process and thread */
    pt_u32 n_processes;
};

/* Call it for every call; `is_of_kind` says whether the call is of the wanted kind. Returns the gap between it and
 * the call before, if that was of the kind, too, and not more than `most_ns`, or a time slice, earlier; else 0. */
pt_u64 pt_gap_before(struct pt_gaps *gaps, const struct pt_event *event, bool is_of_kind, pt_i64 most_ns);
void pt_gaps_fini(struct pt_gaps *gaps);
/* The same between small reads and writes: what compiled code does between two of them is its own work, an interpreter
 * has to get from one to the other. 0 = no interpreter. */
pt_u64 pt_gap_of_interpreter(struct pt_gaps *gaps, const struct pt_event *event, bool is_of_kind, pt_i64 most_ns);

#endif
