/* SPDX-License-Identifier: MIT
 *
 * bad_end.h - which processes a signal ended that nobody sends for a good end.
 */
#ifndef PT_ANALYSIS_STAGE_BAD_END_H
#define PT_ANALYSIS_STAGE_BAD_END_H

#include "profile/profile.h"

/* A fault of its own, or SIGKILL in a stage that failed. SIGTERM and its like end helpers, and so does SIGKILL where
 * all ended well. */
bool pt_process_ended_badly(const struct pt_profile *profile, const struct pt_process *process);

#endif
