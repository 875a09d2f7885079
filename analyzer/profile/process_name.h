/* SPDX-License-Identifier: MIT
 *
 * process_name.h - what people see a process as.
 */
#ifndef PT_PROFILE_PROCESS_NAME_H
#define PT_PROFILE_PROCESS_NAME_H

#include "profile.h"

/* "python3", or "python3 rank 1" where a launcher of ranks gave it one. Lives as long as the profile. */
const char *pt_process_name(struct pt_profile *profile, const struct pt_process *process);

#endif
