/* SPDX-License-Identifier: MIT
 *
 * facts/event_loops.h - what the waits of event loops were for: the thread's next call shows it.
 */
#ifndef PT_FACTS_EVENT_LOOPS_H
#define PT_FACTS_EVENT_LOOPS_H

#include "state.h"

/* The current call of `facts`; sets what it says of the wait before. */
void pt_event_loops_call(struct pt_facts *facts, const struct pt_event *event);

#endif
