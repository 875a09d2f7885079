/* SPDX-License-Identifier: MIT
 *
 * Owns: nothing. Threads: any. Never: lists a program twice that both a process and the launcher saw.
 */
#include "untraced.h"

#include <string.h>

#include "util/auto.h"
#include "util/map.h"
#include "util/mem.h"

/* NULL = not known: it may be the same. */
static bool may_be_same(const char *stage, const char *other)
{
    return !stage || !other || !strcmp(stage, other);
}

/* A process of the same stage saw it, too. What the launcher saw before is another stage's start of it. */
static bool is_seen(const struct pt_untraced_list *list, const struct pt_run_untraced *one)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].parent && !strcmp(list->items[i].path, one->path) &&
            may_be_same(list->items[i].stage, one->stage))
            return true;
    return false;
}

/* It was not started, or not in the window that is shown. */
static bool was_skipped(const struct pt_run_info *run, const char *stage)
{
    for (pt_u32 i = 0; stage && i < run->n_stages; i++)
        if (run->stages[i].name && !strcmp(run->stages[i].name, stage))
            return run->stages[i].status && !strcmp(run->stages[i].status, "skipped");
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
        if (!was_skipped(run, one->stage) && !is_seen(ret_list, one) && (!stage || may_be_same(stage, one->stage)))
            add(ret_list, &texts, &index,
                (struct pt_untraced_program){.path = one->path, .reason = one->reason, .stage = one->stage});
    }
    pt_map_fini(&index);
    pt_intern_fini(&texts);
}
