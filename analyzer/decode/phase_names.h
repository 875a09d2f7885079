/* SPDX-License-Identifier: MIT
 *
 * phase_names.h - phases of a training by number.
 */
#ifndef PT_DECODE_PHASE_NAMES_H
#define PT_DECODE_PHASE_NAMES_H

#include "proftrace/phases.h"

enum { PT_N_PHASES = PT_PHASE_profiler + 1 }; /* 0: one that this build does not know */

extern const char *const pt_phase_names[PT_N_PHASES];

/* Of the tag of a phase_begin. */
static inline enum pt_phase pt_phase_of_tag(int tag)
{
    return tag > 0 && tag < PT_N_PHASES ? (enum pt_phase)tag : (enum pt_phase)0;
}

#endif
