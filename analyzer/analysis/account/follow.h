/* SPDX-License-Identifier: MIT
 *
 * account/follow.h - what the other side did while a critical thread waited.
 */
#ifndef PT_ANALYSIS_ACCOUNT_FOLLOW_H
#define PT_ANALYSIS_ACCOUNT_FOLLOW_H

#include "state.h"

/* The critical thread did something; if it waited, what did the other side do meanwhile? That is looked at later: who
 * was waited for may come back from its call after the one that waited. */
void pt_account_follow(struct account *account, const struct pt_thread *thread, const struct pt_span *span);
/* The same of the current call. */
void pt_account_follow_call(struct account *account, const struct pt_thread *thread);
void pt_account_follow_due(struct account *account, pt_i64 now_ns);
void pt_account_follow_all(struct account *account);
void pt_account_follow_fini(struct account *account);

#endif
