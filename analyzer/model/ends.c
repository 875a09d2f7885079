/* SPDX-License-Identifier: MIT
 *
 * ends.c - Owns: what processes know of the ends of their children. Threads: one, while the session is opened. Never:
 * reads events of a process that had no child without an end; changes an end that the process noted itself.
 */
#include "ends.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "proftrace/events.h"
#include "proftrace/payloads.h"
#include "util/hash.h"
#include "session_data.h"
#include "tree.h"

/* A call that took less found its child dead already, or asked whether it is. */
#define LEAST_WAIT_NS 1000000

void pt_process_was_alive(struct pt_process *p, pt_i64 at_ns)
{
    if (at_ns > p->alive_ns && at_ns < p->gone_ns)
        p->alive_ns = at_ns;
    if (p->end_ns < p->alive_ns)
        p->end_ns = p->alive_ns;
}

void pt_process_was_gone(struct pt_process *p, pt_i64 at_ns)
{
    if (at_ns < p->gone_ns && at_ns >= p->alive_ns)
        p->gone_ns = at_ns;
}

void pt_process_ended(struct pt_process *p, pt_i64 at_ns)
{
    p->end_ns = p->alive_ns = p->gone_ns = at_ns > p->alive_ns ? at_ns : p->alive_ns;
}

/* ---- waits for children ---- */

/* Of processes whose children ended without a note: from when on their waits are of interest. */
struct search {
    struct pt_map child_by_pid; /* the latest with that pid */
    struct pt_process **older;  /* by index: the one before it with the same pid */
    pt_u32 *first_image;        /* by index: that of its first image */
    bool *has_next_image;       /* by index */
    struct pt_decoder *decoder;
    struct pt_batch *batch;
};

/* A stage's first process that became a program without a trace: how that one ended is how the stage did. */
static bool became_unknown(const struct search *search, const struct pt_process *p)
{
    return p->state == PT_PROCESS_EXECED && !search->has_next_image[p->index] &&
           strcmp(p->stage, p->parent->stage) != 0;
}

static bool is_wanted(const struct search *search, const struct pt_process *p)
{
    return p->parent && ((p->state == PT_PROCESS_LIVE && !p->is_running) || became_unknown(search, p));
}

/* A child of any image of that process. */
static bool is_of(const struct search *search, const struct pt_process *p, const struct pt_process *parent)
{
    return search->first_image[p->parent->index] == search->first_image[parent->index];
}

/* Nobody noted who its parent is: it was found by its pid, and containers of one machine have the same ones. */
static bool has_guessed_parent(const struct search *search, const struct pt_process *p)
{
    return !p->session->processes[search->first_image[p->index]]->forked_from;
}

/* Only there an equal pid is enough; but who began after the child has one of its own, with the same pid. */
static bool may_be_of(const struct search *search, const struct pt_process *p, const struct pt_process *parent)
{
    struct pt_process *const *all = p->session->processes;
    const pt_i64 child_start_ns = all[search->first_image[p->index]]->start_ns;
    return has_guessed_parent(search, p) && p->parent->pid == parent->pid && pt_same_machine(p, parent) &&
           all[search->first_image[parent->index]]->start_ns <= child_start_ns + PT_CLOCKS_DIFFER_NS;
}

/* The child that had the pid during the call. */
static struct pt_process *child_of(const struct search *search, const struct pt_process *parent, pt_u32 pid,
                                   pt_i64 until_ns)
{
    struct pt_process *p = pt_map_pointer(&search->child_by_pid, pid), *other = NULL;
    for (; p && (p->start_ns > until_ns || !is_of(search, p, parent)); p = search->older[p->index])
        if (!other && p->start_ns <= until_ns && may_be_of(search, p, parent))
            other = p;
    return p ? p : other;
}

static void take_end(struct pt_process *child, int status, const struct pt_item *item)
{
    child->wait_status = status;
    if (item->duration_ns >= LEAST_WAIT_NS)
        pt_process_ended(child, item->end_ns);
    else
        pt_process_was_gone(child, item->end_ns);
}

static void take_wait(const struct search *search, const struct pt_process *parent, const struct pt_item *item)
{
    const struct pt_ev_wait_child *wait = (const void *)item->words;
    const pt_i64 start_ns = item->end_ns - item->duration_ns;
    const bool is_asked_only = wait->result == 0 && wait->asked_pid > 0;
    const pt_i32 pid = is_asked_only ? wait->asked_pid : wait->result;
    struct pt_process *child = pid > 0 ? child_of(search, parent, (pt_u32)pid, item->end_ns) : NULL;
    const int status = wait->status == PT_NO_WAIT_STATUS ? -1 : (int)wait->status;
    const bool is_end = status < 0 || WIFEXITED(status) || WIFSIGNALED(status);
    if (!child || child->wait_status >= 0)
        return;
    if (child->state == PT_PROCESS_EXECED)
        child->next_status = is_end && !is_asked_only && child->next_status < 0 ? status : child->next_status;
    else if (is_asked_only || !is_end)
        pt_process_was_alive(child, start_ns);
    else
        take_end(child, status, item);
}

/* Events lie in the order of their ends: the first of interest may lie at the end of the item before the one that began
 * after `from_ns`. */
static size_t first_item(const struct pt_process_data *data, const struct pt_slot_blocks *blocks, pt_i64 from_ns)
{
    size_t low = 0, high = blocks->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (pt_scale_time(&data->scale, blocks->items[middle].first_ticks) <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 1 ? low - 2 : 0;
}

static void search_process(struct search *search, const struct pt_process *parent, pt_i64 from_ns)
{
    const struct pt_process_data *data = pt_process_data_of(parent);
    for (size_t i = 0; i < parent->file->slots.n; i++) {
        const struct pt_slot_blocks *blocks = &parent->file->slots.items[i].blocks[PT_BUFFER_RECORDS];
        const struct pt_decode_source source = {
            .file = parent->file, .schema = data->schema, .scale = &data->scale, .blocks = blocks};
        for (size_t k = first_item(data, blocks, from_ns); k < blocks->n; k++) {
            pt_decode(search->decoder, &source, k, search->batch);
            for (pt_u32 e = 0; e < search->batch->n; e++)
                if (pt_event_desc_by_id(search->batch->items[e].tag_kind & 0xff)->kind == PT_KIND_wait_child)
                    take_wait(search, parent, &search->batch->items[e]);
        }
    }
}

static pt_u64 place_of(const struct pt_process *p)
{
    return pt_hash_pair(p->pid, pt_machine_of(p));
}

/* Of a child whose parent was guessed, all that have the parent's pid may know the end. */
static void want_from_others(const struct pt_session *session, const struct search *search, pt_i64 *from_ns)
{
    struct pt_map earliest_by_place = {0}; /* by the parent: the child with the earliest last sign of life; index + 1 */
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *p = session->processes[i];
        if (!is_wanted(search, p) || !has_guessed_parent(search, p))
            continue;
        pt_u64 *earliest = pt_map_at(&earliest_by_place, place_of(p->parent));
        if (!*earliest || p->alive_ns < session->processes[*earliest - 1]->alive_ns)
            *earliest = i + 1;
    }
    for (pt_u32 i = 0; earliest_by_place.n && i < session->n_processes; i++) {
        const pt_u64 *earliest = pt_map_find(&earliest_by_place, place_of(session->processes[i]));
        if (earliest && session->processes[*earliest - 1]->alive_ns < from_ns[i])
            from_ns[i] = session->processes[*earliest - 1]->alive_ns;
    }
    pt_map_fini(&earliest_by_place);
}

/* From when on the waits of each process are of interest: its child's last sign of life. The child may have been
 * started by an image before it. */
static pt_i64 *wanted_from(const struct pt_session *session, const struct search *search)
{
    pt_i64 *from_ns = pt_malloc((session->n_processes + 1) * sizeof *from_ns);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        from_ns[i] = PT_NEVER_NS;
    for (size_t i = 0; i < search->child_by_pid.n; i++)
        for (const struct pt_process *p = (const struct pt_process *)(uintptr_t)search->child_by_pid.entries[i].value;
             p; p = search->older[p->index])
            if (p->alive_ns < from_ns[p->parent->index])
                from_ns[p->parent->index] = p->alive_ns;
    want_from_others(session, search, from_ns);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *previous = session->processes[i]->previous_image;
        if (previous && from_ns[previous->index] < from_ns[i])
            from_ns[i] = from_ns[previous->index];
    }
    return from_ns;
}

static void search_all(struct search *search, const struct pt_session *session)
{
    pt_i64 *from_ns = wanted_from(session, search);
    search->decoder = pt_decoder_new();
    search->batch = pt_malloc(sizeof *search->batch);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (from_ns[i] != PT_NEVER_NS && pt_totals_of(session->processes[i]->totals, PT_KIND_wait_child)->calls)
            search_process(search, session->processes[i], from_ns[i]);
    pt_decoder_free(search->decoder);
    free(search->batch);
    free(from_ns);
}

void pt_session_find_ends(struct pt_session *session)
{
    struct search search = {.older = pt_calloc(session->n_processes, sizeof *search.older),
                            .first_image = pt_calloc(session->n_processes, sizeof *search.first_image),
                            .has_next_image = pt_calloc(session->n_processes, sizeof *search.has_next_image)};
    for (pt_u32 i = 0; i < session->n_processes; i++)
        if (session->processes[i]->previous_image)
            search.has_next_image[session->processes[i]->previous_image->index] = true;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        struct pt_process *p = session->processes[i];
        search.first_image[i] = p->previous_image ? search.first_image[p->previous_image->index] : i;
        if (!is_wanted(&search, p))
            continue;
        uint64_t *newest = pt_map_at(&search.child_by_pid, p->pid);
        search.older[i] = (struct pt_process *)(uintptr_t)*newest;
        *newest = (uintptr_t)p;
    }
    if (search.child_by_pid.n)
        search_all(&search, session);
    free(search.older);
    free(search.first_image);
    free(search.has_next_image);
    pt_map_fini(&search.child_by_pid);
}
