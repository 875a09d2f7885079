/* SPDX-License-Identifier: MIT
 *
 * timeline/ids.c - Owns: the map from processes and threads to viewer ids. One thread. Never: gives an id twice. */
#include "ids.h"

#include <stdlib.h>

#include "util/map.h"
#include "util/mem.h"

/* The kernel gives out no id above this (PID_MAX_LIMIT), so ours start there. */
#define KERNEL_MAX_ID (1u << 22)

static bool id_is_plausible(pt_u32 id)
{
    return id > 0 && id <= KERNEL_MAX_ID;
}

static void assign_pids(struct pt_timeline_ids *ids, const struct pt_session *session)
{
    struct pt_map taken = {0};
    for (pt_u32 i = 0; i < ids->n_processes; i++) {
        const pt_u32 pid = session->processes[i]->pid;
        if (!id_is_plausible(pid))
            continue;
        uint64_t *const slot = pt_map_at(&taken, pid);
        if (*slot)
            continue;
        *slot = i + 1;
        ids->pids[i] = pid;
    }
    pt_u32 next = 1;
    for (pt_u32 i = 0; i < ids->n_processes; i++) {
        if (ids->pids[i])
            continue;
        while (pt_map_find(&taken, next))
            next++;
        ids->pids[i] = next++;
    }
    pt_map_fini(&taken);
}

static void assign_tids(struct pt_timeline_ids *ids, const struct pt_process *process)
{
    pt_u32 *const tids = pt_calloc(process->n_threads ? process->n_threads : 1, sizeof *tids);
    const pt_u32 pid = ids->pids[process->index];
    struct pt_map taken = {0};
    bool has_main = false;
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        const pt_u32 tid = process->threads[i].tid;
        uint64_t *const slot = pt_map_at(&taken, tid);
        if (tid == process->pid && !has_main)
            tids[i] = pid;
        else if (id_is_plausible(tid) && tid != pid && !*slot)
            tids[i] = tid;
        else
            tids[i] = pt_timeline_ids_new_tid(ids);
        has_main |= tid == process->pid;
        *slot = i + 1;
    }
    pt_map_fini(&taken);
    ids->tids[process->index] = tids;
}

void pt_timeline_ids_build(struct pt_timeline_ids *ids, const struct pt_session *session)
{
    const pt_u32 n = session->n_processes;
    *ids = (struct pt_timeline_ids){.n_processes = n, .next_tid = KERNEL_MAX_ID + 1, .next_pid = KERNEL_MAX_ID + 1};
    ids->pids = pt_calloc(n ? n : 1, sizeof *ids->pids);
    ids->tids = pt_calloc(n ? n : 1, sizeof *ids->tids);
    assign_pids(ids, session);
    for (pt_u32 i = 0; i < n; i++)
        assign_tids(ids, session->processes[i]);
}

pt_u32 pt_timeline_ids_new_tid(struct pt_timeline_ids *ids)
{
    return ids->next_tid++;
}

pt_u32 pt_timeline_ids_new_pid(struct pt_timeline_ids *ids)
{
    return ids->next_pid++;
}

void pt_timeline_ids_free(struct pt_timeline_ids *ids)
{
    for (pt_u32 i = 0; i < ids->n_processes; i++)
        free(ids->tids[i]);
    free(ids->tids);
    free(ids->pids);
}
