/* SPDX-License-Identifier: MIT
 *
 * Owns: which threads have run Python, and which processes have gRPC. Threads: one. State: a byte per thread and per
 * process. Never: takes what Python asks for as an exchange of ranks.
 */
#include "exchanges.h"

#include <stdlib.h>
#include <string.h>

#include "facts/workers.h"
#include "util/map.h"
#include "util/mem.h"
#include "util/text/path.h"

static bool are_ranks_missing(const struct pt_session *session)
{
    struct pt_map ranks = {0};
    pt_u32 most = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (process->rank < 0)
            continue;
        *pt_map_at(&ranks, (pt_u64)process->rank + 1) = 1;
        most = process->world_size > most ? process->world_size : most;
    }
    const bool are_missing = most > ranks.n;
    pt_map_fini(&ranks);
    return are_missing;
}

void pt_exchanges_init(struct pt_exchanges *exchanges, const struct pt_session *session,
                       const struct pt_thread_ids *ids)
{
    exchanges->ids = ids;
    exchanges->has_grpc = pt_calloc(session->n_processes + 1, sizeof *exchanges->has_grpc);
    if (are_ranks_missing(session))
        exchanges->is_python = pt_calloc(pt_n_threads(ids) + 1, sizeof *exchanges->is_python);
}

void pt_exchanges_fini(struct pt_exchanges *exchanges)
{
    free(exchanges->is_python);
    free(exchanges->has_grpc);
}

void pt_exchanges_note(struct pt_exchanges *exchanges, const struct pt_event *event)
{
    if (exchanges->is_python)
        exchanges->is_python[pt_thread_number(exchanges->ids, event->thread)] = true;
}

bool pt_exchanges_with_ranks(const struct pt_exchanges *exchanges, const struct pt_event *event)
{
    return exchanges->is_python && event->process->rank >= 0 && !pt_is_main_thread(event) &&
           !exchanges->is_python[pt_thread_number(exchanges->ids, event->thread)];
}

static bool has_grpc(const struct pt_process *process)
{
    static const char *const names[] = {"cygrpc", "libgrpc", "_raylet"};
    for (pt_u32 i = 0; i < process->n_modules; i++)
        for (size_t j = 0; process->modules[i].path && j < sizeof names / sizeof *names; j++)
            if (strstr(pt_base_name(process->modules[i].path), names[j]))
                return true;
    return false;
}

bool pt_exchanges_by_grpc(struct pt_exchanges *exchanges, const struct pt_process *process)
{
    pt_u8 *known = &exchanges->has_grpc[process->index];
    if (!*known)
        *known = has_grpc(process) ? 2 : 1;
    return *known == 2;
}
