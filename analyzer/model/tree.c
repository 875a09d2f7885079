/* SPDX-License-Identifier: MIT
 *
 * tree.c - Owns: which process started which. Threads: one, while the session is opened. Never: makes a cycle: a parent
 * always stands before its children in the session's order.
 */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "util/hash.h"
#include "util/text/path.h"
#include "names.h"
#include "session_data.h"

static int by_start(const void *a, const void *b)
{
    const struct pt_process *x = *(struct pt_process *const *)a, *y = *(struct pt_process *const *)b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->trace_id < y->trace_id ? -1 : x->trace_id > y->trace_id;
}

bool pt_same_machine(const struct pt_process *a, const struct pt_process *b)
{
    return !memcmp(a->file->header->boot_id, b->file->header->boot_id, sizeof a->file->header->boot_id);
}

pt_u64 pt_machine_of(const struct pt_process *process)
{
    pt_u64 words[2] = {0};
    const size_t room = sizeof words, n = sizeof process->file->header->boot_id;
    memcpy(words, process->file->header->boot_id, n < room ? n : room);
    return pt_hash_pair(words[0], words[1]);
}

/* A program's trace begins soon after the exec; where the next one is not traced, its number is another process's one
 * day. */
static bool is_image_before(const struct pt_process *p, const struct pt_process *child)
{
    const pt_i64 longest_ns = 60000000000;
    return p->state == PT_PROCESS_EXECED && child->start_ns - p->end_ns < longest_ns;
}

/* The latest process with a pid that began before `child`; the chain goes from newer to older. */
static struct pt_process *latest_with_pid(const struct pt_map *newest, struct pt_process *const *older, pt_u32 pid,
                                          const struct pt_process *child, bool must_be_execed)
{
    const uint64_t *found = pt_map_find(newest, pid);
    for (struct pt_process *p = found ? (struct pt_process *)(uintptr_t)*found : NULL; p; p = older[p->index]) {
        if (p == child || !pt_same_machine(p, child))
            continue;
        if (must_be_execed)
            return is_image_before(p, child) ? p : NULL;
        /* Alive when the child began, within the precision of the clocks; the end of a killed process is not known
         * exactly. */
        if (p->state == PT_PROCESS_LIVE || p->end_ns + 1000000 >= child->start_ns)
            return p;
    }
    return NULL;
}

/* A process without a stage name belongs to its parent's stage, and one whose parent was not traced to the stage of
 * the run's first process. Without the launcher a run is one stage, named by its command. */
static void inherit_stage(const struct pt_session *session, struct pt_process *p)
{
    const struct pt_process *from = p->previous_image ? p->previous_image : p->parent;
    if (!from && p != session->processes[0])
        from = session->processes[0];
    if (*p->stage)
        return;
    p->stage = from ? from->stage : *p->comm ? p->comm : pt_base_name(p->exe);
}

void pt_session_link(struct pt_session *session)
{
    const pt_u32 n = session->n_processes;
    qsort(session->processes, n, sizeof *session->processes, by_start);
    struct pt_map by_trace = {0}, newest = {0};
    struct pt_process **older = pt_calloc(n, sizeof *older);
    for (pt_u32 i = 0; i < n; i++) {
        struct pt_process *p = session->processes[i];
        p->index = p->number = i;
        if (p->parent_trace_id) /* forked: whoever had this pid before is another process */
            p->parent = p->forked_from = pt_map_pointer(&by_trace, p->parent_trace_id);
        else
            p->previous_image = latest_with_pid(&newest, older, p->pid, p, true);
        if (!p->parent && p->previous_image)
            p->parent = p->previous_image->parent;
        else if (!p->parent && p->ppid)
            p->parent = latest_with_pid(&newest, older, p->ppid, p, false);
        if (p->parent)
            session->processes[p->parent->index]->has_children = true;
        inherit_stage(session, p);
        uint64_t *id = pt_map_at(&by_trace, p->trace_id);
        *id = *id ? *id : (uintptr_t)p;
        uint64_t *last = pt_map_at(&newest, p->pid);
        older[i] = (struct pt_process *)(uintptr_t)*last;
        *last = (uintptr_t)p;
    }
    for (pt_u32 i = 0; i < n; i++)
        pt_process_fill_untraced(pt_process_data_of(session->processes[i]));
    pt_map_fini(&by_trace);
    pt_map_fini(&newest);
    free(older);
}
