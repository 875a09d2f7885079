/* SPDX-License-Identifier: MIT
 *
 * account.h - the time accounts of stages and threads as bars and tables.
 */
#ifndef PT_REPORT_BUILD_ACCOUNT_H
#define PT_REPORT_BUILD_ACCOUNT_H

#include "state.h"

/* Of a stage's main thread. */
struct pt_bar pt_build_time_bar(const struct pt_build *b, const struct pt_doc_stage *stage);
/* The same of all stages, as a table. */
void pt_build_time_account(const struct pt_build *b);
void pt_build_whose_time(const struct pt_build *b);
/* Of each thread of a stage: nothing where there is one thread only. */
void pt_build_threads(const struct pt_build *b, struct pt_doc_stage *stage);

#endif
