/* SPDX-License-Identifier: MIT
 *
 * path/beside_pauses.h - how long own threads and workers computed while the main thread of their process paused and
 * looked again (joblib's way to wait for them): what it waits for takes that time, and is late by the last pause at
 * most.
 */
#ifndef PT_FACTS_PATH_BESIDE_PAUSES_H
#define PT_FACTS_PATH_BESIDE_PAUSES_H

#include "facts/state.h"

/* A pause that waits for something is rarely longer: it would be noticed. */
#define PT_SHORT_SLEEP_NS 110000000ll

/* As it was meant: that a busy machine lets it last longer does not make it a long one. */
bool pt_is_short_pause(const struct pt_event *sleep);

/* Pauses with next to nothing between them. Zeroed = none yet. */
struct pt_pauses {
    pt_i64 start_ns, end_ns;
    double computed_ns; /* of those before */
};

/* The next pause of a main thread, in the order of time. */
void pt_pauses_add(struct pt_pauses *pauses, const struct pt_facts *facts, const struct pt_event *pause);

/* Of all of them: in which another thread of the process, or a worker of it, was on a CPU. 0 where the CPU was not
 * sampled. */
double pt_pauses_computed_ns(struct pt_pauses *pauses, const struct pt_facts *facts, const struct pt_process *process);

#endif
