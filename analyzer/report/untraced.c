/* SPDX-License-Identifier: MIT
 *
 * Owns: nothing. Threads: any. Never: lists a program twice that both a process and the launcher saw.
 */
#include "untraced.h"

#include <string.h>

static bool is_listed(const struct pt_untraced_list *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].path, path))
            return true;
    return false;
}

void pt_untraced_list(const struct pt_profile *profile, const char *stage, struct pt_untraced_list *ret_list)
{
    for (pt_u32 i = 0; i < profile->session->n_processes; i++) {
        const struct pt_process *process = profile->session->processes[i];
        const char *here = profile->stages.items[pt_profile_stage_of(profile, process)].name;
        if (stage && strcmp(stage, here) != 0)
            continue;
        for (pt_u32 j = 0; j < process->n_untraced; j++) {
            const struct pt_untraced *one = &process->untraced[j];
            const char *path = one->path ? one->path : "unknown";
            pt_vec_push(ret_list, ((struct pt_untraced_program){path, one->reason, here, process}));
        }
    }
    for (pt_u32 i = 0; profile->run && i < profile->run->n_untraced; i++) {
        const struct pt_run_untraced *one = &profile->run->untraced[i];
        if (!is_listed(ret_list, one->path))
            pt_vec_push(ret_list, ((struct pt_untraced_program){one->path, one->reason, one->stage, NULL}));
    }
}
