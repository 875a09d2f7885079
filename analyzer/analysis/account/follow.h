/* SPDX-License-Identifier: MIT
 *
 * account/follow.h - what the other side did while a critical thread waited.
 */
#ifndef PT_ANALYSIS_ACCOUNT_FOLLOW_H
#define PT_ANALYSIS_ACCOUNT_FOLLOW_H

#include "state.h"

/* The critical thread did something; if it waited, what did its blocker do during the wait? That is found out later,
 * because the blocker's call may return after that of the waiter. */
void pt_account_follow(struct account *account, const struct pt_thread *thread, const struct pt_span *span);
/* The same of the current call. */
void pt_account_follow_call(struct account *account, const struct pt_thread *thread);
void pt_account_follow_due(struct account *account, pt_i64 now_ns);
void pt_account_follow_all(struct account *account);
void pt_account_follow_fini(struct account *account);

#endif
