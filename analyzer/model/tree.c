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

struct links {
    struct pt_map by_trace, newest; /* by trace_id, and by pid */
    struct pt_process **older;      /* by index: the one before it with the same pid */
    bool *has_next_image;           /* by index */
};

/* A program's trace begins soon after the exec; where the next one is not traced, its number is another process's one
 * day. */
static bool is_image_before(const struct pt_process *p, const struct pt_process *next)
{
    const pt_i64 longest_ns = 60000000000;
    return p->state == PT_PROCESS_EXECED && p->end_ns <= next->start_ns + PT_CLOCKS_DIFFER_NS &&
           next->start_ns - p->end_ns < longest_ns;
}

/* What the process was before it became this one. Those of its pid that went on are of other containers, in which pids
 * are the same: there may be many, and of so many some other one would do. */
static struct pt_process *image_before(const struct links *links, const struct pt_process *next)
{
    enum { MOST_CONTAINERS = 1000 };
    struct pt_process *p = pt_map_pointer(&links->newest, next->pid);
    for (int i = 0; p && i < MOST_CONTAINERS; i++, p = links->older[p->index]) {
        if (!pt_same_machine(p, next) || links->has_next_image[p->index])
            continue;
        if (is_image_before(p, next))
            return p;
        if (p->state != PT_PROCESS_LIVE && p->end_ns <= next->start_ns)
            return NULL;
    }
    return NULL;
}

/* The latest process with a pid that was alive when `child` began, within the precision of the clocks; the end of a
 * killed process is not known exactly. The chain goes from newer to older. */
static struct pt_process *latest_with_pid(const struct links *links, pt_u32 pid, const struct pt_process *child)
{
    struct pt_process *p = pt_map_pointer(&links->newest, pid);
    while (p && (!pt_same_machine(p, child) ||
                 (p->state != PT_PROCESS_LIVE && p->end_ns + PT_CLOCKS_DIFFER_NS < child->start_ns)))
        p = links->older[p->index];
    return p;
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
    struct links links = {.older = pt_calloc(n, sizeof *links.older),
                          .has_next_image = pt_calloc(n, sizeof *links.has_next_image)};
    for (pt_u32 i = 0; i < n; i++) {
        struct pt_process *p = session->processes[i];
        p->index = p->number = i;
        if (p->parent_trace_id) /* forked: whoever had this pid before is another process */
            p->parent = p->forked_from = pt_map_pointer(&links.by_trace, p->parent_trace_id);
        else
            p->previous_image = image_before(&links, p);
        if (p->previous_image)
            links.has_next_image[p->previous_image->index] = true;
        if (!p->parent && p->previous_image)
            p->parent = p->previous_image->parent;
        else if (!p->parent && p->ppid)
            p->parent = latest_with_pid(&links, p->ppid, p);
        if (p->parent)
            session->processes[p->parent->index]->has_children = true;
        inherit_stage(session, p);
        uint64_t *id = pt_map_at(&links.by_trace, p->trace_id);
        *id = *id ? *id : (uintptr_t)p;
        uint64_t *last = pt_map_at(&links.newest, p->pid);
        links.older[i] = (struct pt_process *)(uintptr_t)*last;
        *last = (uintptr_t)p;
    }
    for (pt_u32 i = 0; i < n; i++)
        pt_process_fill_untraced(pt_process_data_of(session->processes[i]));
    pt_map_fini(&links.by_trace);
    pt_map_fini(&links.newest);
    free(links.older);
    free(links.has_next_image);
}
