/* SPDX-License-Identifier: MIT
 *
 * account/threads.h - the time account of every thread of a stage.
 */
#ifndef PT_ANALYSIS_ACCOUNT_THREADS_H
#define PT_ANALYSIS_ACCOUNT_THREADS_H

#include "state.h"

/* The table of a stage's threads, each with its account. */
void pt_account_set_threads(struct pt_account *account, pt_u32 stage);

#endif
