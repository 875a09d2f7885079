/* SPDX-License-Identifier: MIT
 *
 * account/follow.h - what the other side did while a critical thread waited.
 */
#ifndef PT_ANALYSIS_ACCOUNT_FOLLOW_H
#define PT_ANALYSIS_ACCOUNT_FOLLOW_H

#include "state.h"

/* The critical thread did something; if it waited, what did its blocker do during the wait? That is found out later,
 * because the blocker's call may return after that of the waiter. */
void pt_account_follow(struct pt_account *account, const struct pt_thread *thread, const struct pt_span *span);
/* The same of the current call. */
void pt_account_follow_call(struct pt_account *account, const struct pt_thread *thread, pt_u32 kind);
void pt_account_follow_due(struct pt_account *account, pt_i64 now_ns);
void pt_account_follow_all(struct pt_account *account);
void pt_account_follow_fini(struct pt_account *account);

#endif
