/* SPDX-License-Identifier: MIT
 *
 * Owns: which layers a stage lacks. Threads: any. Never: takes what one process did not record for what none did.
 */
#include "layers_missing.h"

const char *pt_profile_why_not_recorded(const struct pt_profile *profile, pt_u32 stage, pt_u32 layers)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const char *why =
            pt_profile_stage_of(profile, process) == stage ? pt_process_why_no_layers(process, layers) : NULL;
        if (why)
            return why;
    }
    return NULL;
}
