/* SPDX-License-Identifier: MIT
 *
 * Owns: the names of phases, as phases.h has them. Threads: any. Never: anything else.
 */
#include "phase_names.h"

#define NAME(name, id) [id] = #name,
const char *const pt_phase_names[PT_N_PHASES] = {[0] = "phase", PT_PHASES(PT_PHASE_NAME)};
