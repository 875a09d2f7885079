/* SPDX-License-Identifier: MIT
 *
 * Owns: the division of a run into stages. Threads: one, before the analyses start. Never: looks at events.
 */
#include "stages.h"

#include <stdlib.h>
#include <string.h>

static pt_u32 stage_index(struct pt_stages *stages, const char *name)
{
    for (size_t i = 0; i < stages->n; i++)
        if (!strcmp(stages->items[i].name, name))
            return (pt_u32)i;
    pt_vec_push(stages, (struct pt_stage){.name = name});
    return (pt_u32)(stages->n - 1);
}

static void join(struct pt_stage *stage, struct pt_process *process)
{
    if (!stage->n_processes || process->start_ns < stage->start_ns)
        stage->start_ns = process->start_ns;
    if (!stage->n_processes || process->end_ns > stage->end_ns)
        stage->end_ns = process->end_ns;
    if (!stage->root)
        stage->root = process;
    stage->n_processes++;
}

void pt_stages_build(struct pt_stages *stages, const struct pt_session *session, const struct pt_run_info *run)
{
    for (pt_u32 i = 0; run && i < run->n_stages; i++) {
        const pt_u32 index = stage_index(stages, run->stages[i].name);
        if (!stages->items[index].run)
            stages->items[index].run = &run->stages[i];
    }
    stages->of_process = pt_calloc(session->n_processes, sizeof *stages->of_process);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *process = session->processes[i];
        const pt_u32 index = stage_index(stages, process->stage && *process->stage ? process->stage : "unknown");
        stages->of_process[process->index] = index;
        join(&stages->items[index], process);
    }
}

void pt_stages_free(struct pt_stages *stages)
{
    free(stages->items);
    free(stages->of_process);
    *stages = (struct pt_stages){0};
}

struct pt_process *pt_process_last_image(const struct pt_session *session, struct pt_process *process)
{
    /* Images are in the order of their start, so one pass follows the chain, and no cycle can stop it. */
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (session->processes[i]->previous_image == process)
            process = session->processes[i];
    return process;
}
