/* SPDX-License-Identifier: MIT
 *
 * Owns: the name of a process. Threads: one. Never: hides which of several ranks it is.
 */
#include "process_name.h"

#include "util/text/path.h"

const char *pt_process_name(struct pt_profile *profile, const struct pt_process *process)
{
    const char *name = process->comm ? process->comm : pt_base_name(process->exe);
    return process->rank < 0 ? name
                             : pt_metrics_format(&profile->metrics, "%s rank %lld", name, (long long)process->rank);
}
