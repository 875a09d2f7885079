/* SPDX-License-Identifier: MIT
 *
 * account/event_loops.h - what the waits of event loops were for.
 */
#ifndef PT_ANALYSIS_ACCOUNT_EVENT_LOOPS_H
#define PT_ANALYSIS_ACCOUNT_EVENT_LOOPS_H

#include "decode/event.h"
#include "state.h"

/* An event loop waited; any other span of the thread, `is_critical` = of a stage's critical one. */
void pt_account_loop_waited(struct account_thread *thread, const struct span *span, double own_ns, bool for_signals);
void pt_account_loop_next(struct account *account, struct account_thread *thread, const struct pt_event *event,
                          const struct span *span, bool is_critical);

#endif
