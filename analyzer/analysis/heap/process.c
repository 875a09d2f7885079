/* SPDX-License-Identifier: MIT
 *
 * Owns: the processes that had an event of the heap. Threads: one. Never: holds one for a process without.
 */
#include "process.h"

#include <stdlib.h>

#include "util/mem.h"

static void init(struct pt_heap_process *p, struct pt_heap_processes *processes, const struct pt_process *process)
{
    *p = (struct pt_heap_process){.blocks.room = &processes->room, .samples.room = &processes->room};
    p->is_thinned = pt_totals_of(process->totals, PT_KIND_heap_sample_thinned)->calls > 0;
    pt_heap_level_init(&p->level, process->start_ns, process->end_ns);
    pt_heap_level_init(&p->arenas, process->start_ns, process->end_ns);
}

struct pt_heap_process *pt_heap_process_of(struct pt_heap_processes *processes, const struct pt_process *process)
{
    struct pt_heap_process **place = &processes->items[process->index];
    if (!*place) {
        *place = pt_malloc(sizeof **place);
        init(*place, processes, process);
    }
    return *place;
}

struct pt_heap_process *pt_heap_process_found(struct pt_heap_processes *processes, const struct pt_process *process)
{
    if (processes->items[process->index])
        return processes->items[process->index];
    init(&processes->none, processes, process);
    return &processes->none;
}

void pt_heap_processes_fini(struct pt_heap_processes *processes, pt_u32 n)
{
    for (pt_u32 i = 0; i < n; i++)
        if (processes->items[i]) {
            pt_block_map_fini(&processes->items[i]->blocks);
            pt_block_map_fini(&processes->items[i]->samples);
            pt_heap_remap_fini(&processes->items[i]->remap);
            free(processes->items[i]);
        }
    free(processes->items);
}
