/* SPDX-License-Identifier: MIT
 *
 * account/follow.h - what the other side did while a critical thread waited.
 */
#ifndef PT_ANALYSIS_ACCOUNT_FOLLOW_H
#define PT_ANALYSIS_ACCOUNT_FOLLOW_H

#include "decode/event.h"
#include "state.h"

/* Whom a wait was for, as far as the call tells. */
void pt_account_set_whom(const struct account *account, const struct pt_event *event, struct span *span);

/* Remember a span; returns its length without what it contains: an inner one ended before and came first. */
pt_i64 pt_account_keep_span(struct account *account, struct account_thread *thread, const struct span *span);

/* The critical thread waited: what did the other side do meanwhile? That is looked at a moment later. */
void pt_account_follow(struct account *account, const struct pt_thread *thread, const struct span *span);
void pt_account_follow_due(struct account *account, pt_i64 now_ns);
void pt_account_follow_all(struct account *account);
void pt_account_follow_fini(struct account *account);

#endif
