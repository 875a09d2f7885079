/* SPDX-License-Identifier: MIT
 *
 * training/imports.h - what importing modules costs a stage, and what of that the same script does again and again.
 */
#ifndef PT_ANALYSIS_TRAINING_IMPORTS_H
#define PT_ANALYSIS_TRAINING_IMPORTS_H

#include "phase_sums.h"

/* Sets python.imports.*, in seconds of the critical path; nothing where no import was seen. */
void pt_training_imports(struct pt_profile *profile, const struct pt_phase_sums *sums, pt_u32 stage);

#endif
