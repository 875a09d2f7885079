/* SPDX-License-Identifier: MIT
 *
 * Owns: nothing. Threads: any. Never: lists a program twice that both a process and the launcher saw.
 */
#include "untraced.h"

#include <string.h>

#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"

static bool is_listed(const struct pt_untraced_list *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].path, path))
            return true;
    return false;
}

/* `index` of the list: by the address of the one copy of all that tells a program from another. */
static void add(struct pt_untraced_list *list, struct pt_intern *texts, struct pt_map *index,
                struct pt_untraced_program program)
{
    PT_AUTO(pt_freep)
    char *key = pt_asprintf("%s\n%s\n%s", program.path, program.reason ? program.reason : "",
                            program.stage ? program.stage : "");
    uint64_t *place = pt_map_at(index, (uintptr_t)pt_intern_text(texts, key));
    if (!*place) {
        pt_vec_push(list, program);
        *place = list->n;
    }
    list->items[*place - 1].times++;
}

void pt_untraced_list(const struct pt_session *session, const struct pt_run_info *run, const char *stage,
                      struct pt_untraced_list *ret_list)
{
    struct pt_intern texts = {0};
    struct pt_map index = {0};
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        if (stage && (!process->stage || strcmp(stage, process->stage) != 0))
            continue;
        for (pt_u32 j = 0; j < process->n_untraced; j++) {
            const struct pt_untraced *one = &process->untraced[j];
            add(ret_list, &texts, &index,
                (struct pt_untraced_program){.path = one->path ? one->path : "unknown",
                                             .reason = one->reason,
                                             .stage = process->stage,
                                             .parent = process,
                                             .at_ns = one->at_ns});
        }
    }
    for (pt_u32 i = 0; run && i < run->n_untraced; i++) {
        const struct pt_run_untraced *one = &run->untraced[i];
        if (!is_listed(ret_list, one->path))
            add(ret_list, &texts, &index,
                (struct pt_untraced_program){.path = one->path, .reason = one->reason, .stage = one->stage});
    }
    pt_map_fini(&index);
    pt_intern_fini(&texts);
}
