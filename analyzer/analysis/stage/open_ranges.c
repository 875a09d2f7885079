/* SPDX-License-Identifier: MIT
 *
 * Owns: which ranges are open. Threads: one. Never: keeps anything of a range that was closed, however many there are.
 */
#include "open_ranges.h"

#include <stdlib.h>

#include "util/hash.h"
#include "util/mem.h"

static pt_u32 *chain_of(const struct pt_open_ranges *all, const struct pt_process *process, pt_u64 id)
{
    return &all->first_of_hash[pt_hash_pair((uintptr_t)process, id) & (PT_MOST_OPEN_RANGES - 1)];
}

/* `link` leads to it. */
static void forget(struct pt_open_ranges *all, pt_u32 *link)
{
    const pt_u32 number = *link;
    struct pt_open_range *open = &all->items[number - 1];
    *link = open->next;
    *open = (struct pt_open_range){.next = all->first_closed};
    all->first_closed = number;
}

/* Those of `next`'s own process may still be closed. */
static void end_with_processes(struct pt_open_ranges *all, const struct pt_open_range *next, pt_show_open_range *show,
                               void *context)
{
    if (next->start_ns < all->full_until_ns)
        return;
    all->full_until_ns = INT64_MAX;
    for (size_t i = 0; i < all->n; i++) {
        const struct pt_open_range open = all->items[i];
        if (!open.process)
            continue;
        if (open.process->end_ns >= next->start_ns || open.process == next->process) {
            all->full_until_ns = open.process->end_ns < all->full_until_ns ? open.process->end_ns : all->full_until_ns;
            continue;
        }
        show(context, &open, open.process->end_ns);
        pt_u32 *link = chain_of(all, open.process, open.id);
        while (*link != i + 1)
            link = &all->items[*link - 1].next;
        forget(all, link);
    }
}

void pt_open_ranges_add(struct pt_open_ranges *all, const struct pt_open_range *open, pt_show_open_range *show,
                        void *context)
{
    if (!all->first_of_hash)
        all->first_of_hash = pt_calloc(PT_MOST_OPEN_RANGES, sizeof *all->first_of_hash);
    if (!all->first_closed && all->n == PT_MOST_OPEN_RANGES)
        end_with_processes(all, open, show, context);
    if (!all->first_closed && all->n == PT_MOST_OPEN_RANGES) {
        all->not_followed++;
        return;
    }
    pt_u32 number = all->first_closed;
    if (number) {
        all->first_closed = all->items[number - 1].next;
    } else {
        pt_vec_push(all, (struct pt_open_range){0});
        number = (pt_u32)all->n;
    }
    pt_u32 *chain = chain_of(all, open->process, open->id);
    all->items[number - 1] = *open;
    all->items[number - 1].next = *chain;
    *chain = number;
    if (open->process->end_ns < all->full_until_ns)
        all->full_until_ns = open->process->end_ns;
}

bool pt_open_ranges_take(struct pt_open_ranges *all, const struct pt_process *process, pt_u64 id,
                         struct pt_open_range *ret_open)
{
    if (!all->first_of_hash)
        return false;
    pt_u32 *link = chain_of(all, process, id);
    while (*link && (all->items[*link - 1].process != process || all->items[*link - 1].id != id))
        link = &all->items[*link - 1].next;
    if (!*link)
        return false;
    *ret_open = all->items[*link - 1];
    forget(all, link);
    return true;
}

void pt_open_ranges_fini(struct pt_open_ranges *all, pt_show_open_range *show, void *context)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].process)
            show(context, &all->items[i], all->items[i].process->end_ns);
    free(all->items);
    free(all->first_of_hash);
    *all = (struct pt_open_ranges){0};
}
