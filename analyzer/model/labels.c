/* SPDX-License-Identifier: MIT
 *
 * labels.c - Owns: short names of processes and threads that are unique in a session. Threads: any, after
 * pt_labels_new. Never: gives two of them one name.
 */
#include "labels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"
#include "util/map.h"
#include "util/mem.h"

struct pt_labels {
    struct pt_arena arena;
    struct pt_map processes, threads; /* pointer -> text */
};

static const char *keep(struct pt_labels *labels, char *text)
{
    const char *kept = pt_arena_text(&labels->arena, text, strlen(text));
    free(text);
    return kept;
}

static void label_process(struct pt_labels *labels, const struct pt_process *p, const struct pt_map *pids)
{
    const bool is_twice = *pt_map_find(pids, p->pid) > 1;
    char *name = is_twice ? pt_asprintf("%" PRIu32 "#%" PRIu32, p->pid, p->index) : pt_asprintf("%" PRIu32, p->pid);
    const char *label = keep(labels, name);
    *pt_map_at(&labels->processes, (uintptr_t)p) = (uintptr_t)label;
    struct pt_map tids = {0};
    for (pt_u32 i = 0; i < p->n_threads; i++)
        ++*pt_map_at(&tids, p->threads[i].tid);
    for (pt_u32 i = 0; i < p->n_threads; i++) {
        const struct pt_thread *t = &p->threads[i];
        name = *pt_map_find(&tids, t->tid) > 1 ? pt_asprintf("%s/%" PRIu32 "#%" PRIu32, label, t->tid, i)
                                               : pt_asprintf("%s/%" PRIu32, label, t->tid);
        *pt_map_at(&labels->threads, (uintptr_t)t) = (uintptr_t)keep(labels, name);
    }
    pt_map_fini(&tids);
}

struct pt_labels *pt_labels_new(const struct pt_session *session)
{
    struct pt_labels *labels = pt_calloc(1, sizeof *labels);
    struct pt_map pids = {0};
    for (pt_u32 i = 0; i < session->n_processes; i++)
        ++*pt_map_at(&pids, session->processes[i]->pid);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        label_process(labels, session->processes[i], &pids);
    pt_map_fini(&pids);
    return labels;
}

void pt_labels_free(struct pt_labels *labels)
{
    pt_map_fini(&labels->processes);
    pt_map_fini(&labels->threads);
    pt_arena_fini(&labels->arena);
    free(labels);
}

const char *pt_label_of_process(const struct pt_labels *labels, const struct pt_process *process)
{
    return pt_map_pointer(&labels->processes, (uintptr_t)process);
}

const char *pt_label_of_thread(const struct pt_labels *labels, const struct pt_thread *thread)
{
    return pt_map_pointer(&labels->threads, (uintptr_t)thread);
}
