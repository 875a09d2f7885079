/* SPDX-License-Identifier: MIT
 *
 * process.h - the tables of processes, and of programs that were not traced.
 */
#ifndef PT_REPORT_BUILD_PROCESS_H
#define PT_REPORT_BUILD_PROCESS_H

#include "state.h"

/* Of the whole run. */
void pt_build_processes(const struct pt_build *b);
/* Of one stage, for pages. */
void pt_build_stage_processes(const struct pt_build *b, struct pt_doc_stage *stage);

#endif
