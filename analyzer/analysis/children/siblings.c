/* SPDX-License-Identifier: MIT
 *
 * Owns: for how much of a wait for a command other children ran, too. Threads: one. Never: checks more than
 * MOST_SIBLINGS processes, or more than MOST_WAITS waits: later ones count as waits for a single child.
 */
#include "siblings.h"

#include <stdlib.h>

enum { MOST_SIBLINGS = 256, MOST_WAITS = 4096 };

struct change {
    pt_i64 at_ns;
    int by;
};

/* At equal times ends come before begins: the images of one process before and after exec are not two processes. */
static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->by - y->by;
}

static pt_u32 lives_within(const struct pt_session *session, const struct pt_event *wait, struct change *changes)
{
    pt_u32 n = 0;
    for (pt_u32 i = 0; i < session->n_processes && n < 2 * MOST_SIBLINGS; i++) {
        const struct pt_process *p = session->processes[i];
        const pt_i64 from_ns = p->start_ns > wait->start_ns ? p->start_ns : wait->start_ns;
        const pt_i64 until_ns = p->end_ns < pt_event_end_ns(wait) ? p->end_ns : pt_event_end_ns(wait);
        if (p->ppid != wait->process->pid || p == wait->process || until_ns <= from_ns)
            continue;
        changes[n++] = (struct change){from_ns, 1};
        changes[n++] = (struct change){until_ns, -1};
    }
    return n;
}

pt_i64 pt_children_concurrent_ns(struct pt_children *children, const struct pt_event *wait)
{
    struct change changes[2 * MOST_SIBLINGS];
    if (children->waits_with_siblings++ >= MOST_WAITS)
        return 0;
    const pt_u32 n = lives_within(children->profile->session, wait, changes);
    pt_i64 concurrent_ns = 0;
    int living = 0;
    qsort(changes, n, sizeof *changes, by_time);
    for (pt_u32 i = 0; i < n; i++) {
        concurrent_ns += living > 1 ? changes[i].at_ns - changes[i - 1].at_ns : 0;
        living += changes[i].by;
    }
    return concurrent_ns;
}
