/* SPDX-License-Identifier: MIT
 *
 * heap/peak_phase.h - in which phase of a training the memory of a process was at its peak.
 */
#ifndef PT_ANALYSIS_HEAP_PEAK_PHASE_H
#define PT_ANALYSIS_HEAP_PEAK_PHASE_H

#include <stdbool.h>

#include "decode/event.h"

enum { PT_PEAK_PHASES = 16 }; /* one in another; more are taken for the last of these */

/* Those of the main thread: what its helpers allocate, it waits for. */
struct pt_peak_phase {
    pt_u8 open[PT_PEAK_PHASES]; /* enum pt_phase */
    pt_u32 depth;
    bool is_training; /* it had any */
    pt_u8 at_peak;    /* enum pt_phase; 0 = none was open */
};

bool pt_peak_phase_concerns(const struct pt_event *e);
void pt_peak_phase_event(struct pt_peak_phase *phase, const struct pt_event *e);
/* More memory lives than ever before. */
void pt_peak_phase_note(struct pt_peak_phase *phase);

#endif
