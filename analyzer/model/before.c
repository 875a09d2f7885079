/* SPDX-License-Identifier: MIT
 *
 * before.c - Owns: what was noted before a window and holds on in it, and how many blocks are read to find that.
 * Threads: one, when a run is opened. Never: reads a block twice, or more blocks than the window and MOST_BLOCKS_MORE:
 * of a run of weeks the last minutes are asked for, and they should not take as long as all of it.
 */
#include "before.h"

#include <stdlib.h>

#include "proftrace/payloads.h"
#include "decode/decode.h"
#include "util/auto.h"
#include "util/hash.h"
#include "util/mem.h"
#include "session_data.h"
#include "threads.h"

/* Of each list, in all processes: as many as facts about connections have. Blocks: a fraction of a second. */
enum { MOST_KEPT = 65536, MOST_BLOCKS_MORE = 2048 };

struct events {
    PT_VEC(struct pt_event);
};

struct search {
    pt_i64 from_ns;
    size_t blocks_left; /* that may be read yet */
    struct events states, earlier, starts;
    struct pt_map places; /* what an event is about -> index in its list, plus 1 */
    struct pt_decoder *decoder;
    struct pt_batch *batch;
};

/* One thread, while its blocks are read. */
struct life {
    struct pt_thread *thread;
    pt_u64 left;      /* connections and states of it that were not found yet */
    bool wants_start; /* that is in its first block, or was lost */
    size_t may_read;  /* blocks */
};

/* Of these kinds something holds on, apart from thread_start. */
static const pt_u16 kinds[] = {PT_KIND_gpu_device, PT_KIND_gpu_tracing, PT_KIND_net_connect, PT_KIND_net_accept};

static bool is_kept(pt_u32 kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kind == kinds[i])
            return true;
    return false;
}

static pt_u64 n_kept(const struct pt_totals_by_kind *totals)
{
    pt_u64 n = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        n = pt_sum(n, pt_totals_of(totals, kinds[i])->calls);
    return n;
}

static bool has_connections(const struct pt_totals_by_kind *totals)
{
    return pt_totals_of(totals, PT_KIND_net_connect)->calls || pt_totals_of(totals, PT_KIND_net_accept)->calls;
}

/* It had ended before the window, but another process goes on with its connections. */
static bool is_left_out(const struct pt_process *process)
{
    return process->index >= process->session->n_processes;
}

/* Each thread has a start, but only who joins others has to know theirs. */
static bool joins(const struct pt_process *process)
{
    return pt_totals_of(process->totals, PT_KIND_wait_thread)->calls > 0;
}

static pt_u64 subject_of(const struct pt_event *event)
{
    switch (event->desc->kind) {
    case PT_KIND_net_connect:
        return pt_event_as(event, net_connect)->peer;
    case PT_KIND_net_accept:
        return pt_event_as(event, net_accept)->peer;
    case PT_KIND_thread_start:
        return pt_event_as(event, thread_start)->pthread;
    case PT_KIND_gpu_device:
        return (pt_u32)event->tag;
    default:
        return 0;
    }
}

static bool is_about_same(const struct pt_event *a, const struct pt_event *b)
{
    return a->process == b->process && a->desc == b->desc && subject_of(a) == subject_of(b);
}

/* A later one about the same thing replaces it: of each process the last connection to an address, or from it, the last
 * thread of a pthread_t. */
static void keep(struct search *search, const struct pt_event *event)
{
    const pt_u64 key = pt_hash_pair(subject_of(event), (pt_u64)event->process->index << 32 | (pt_u32)event->desc->kind);
    const uint64_t *known = pt_map_find(&search->places, key);
    struct events *list = event->desc->kind == PT_KIND_thread_start  ? &search->starts
                          : event->desc->category == PT_CATEGORY_GPU ? &search->states
                                                                     : &search->earlier;
    if (known) {
        /* Keys of a made trace may collide: the place is perhaps one of another list. */
        struct pt_event *last = *known <= list->n ? &list->items[*known - 1] : NULL;
        if (last && is_about_same(last, event) && last->start_ns <= event->start_ns)
            *last = *event;
    } else if (list->n < MOST_KEPT) {
        pt_vec_push(list, *event);
        *pt_map_at(&search->places, key) = list->n;
    }
}

/* A call that ends in the window is an event of it. */
static void read_block(struct search *search, struct life *life, const struct pt_decode_source *from, size_t block)
{
    if (pt_decode(search->decoder, from, block, search->batch) < 0)
        return; /* damage before the window is nothing that the window lacks */
    for (pt_u32 i = 0; i < search->batch->n; i++) {
        const struct pt_item *item = &search->batch->items[i];
        const struct pt_event event = {.start_ns = item->end_ns - item->duration_ns,
                                       .duration_ns = item->duration_ns,
                                       .desc = pt_event_desc_by_id(item->tag_kind & 0xff),
                                       .process = life->thread->process,
                                       .thread = life->thread,
                                       .aux = item->aux,
                                       .tag = (pt_i32)item->tag_kind >> 8,
                                       .words = {item->words[0], item->words[1]}};
        const bool is_start = life->wants_start && event.desc->kind == PT_KIND_thread_start;
        if (item->end_ns >= search->from_ns || (!is_start && !is_kept(event.desc->kind)))
            continue;
        life->left -= !is_start && life->left;
        if (event.desc->category != PT_CATEGORY_GPU || !is_left_out(event.process)) /* its GPUs are not the window's */
            keep(search, &event);
    }
}

/* What is kept is few, and mostly among the first events of a thread: the others need not be read. */
static void read_run(struct search *search, struct life *life, const struct pt_decode_source *from,
                     const struct pt_block_run *run)
{
    for (size_t i = run->first; i < run->first + run->n && (life->left || life->wants_start); i++) {
        const struct pt_block_ref *ref = &from->blocks->items[i];
        if (!pt_block_ref_events(ref) || pt_scale_time(from->scale, ref->first_ticks) >= search->from_ns)
            continue;
        if (!life->may_read) {
            life->thread->process->lacks_earlier |= life->left > 0 && has_connections(life->thread->totals);
            return;
        }
        life->may_read--;
        search->blocks_left--;
        read_block(search, life, from, i);
        life->wants_start = false;
    }
}

/* One thread whose connects were lost, or lie in the window, would read all that there is: each may read half of what
 * is left, so that the others are read, too. Nobody waits in the window for a thread that had ended before it. */
static struct life begin_life(const struct search *search, struct pt_thread *thread, bool of_ended)
{
    const bool has_ended =
        is_left_out(thread->process) || (thread->end_ns < search->from_ns && pt_thread_noted_end(thread));
    struct life life = {.thread = thread, .may_read = (search->blocks_left + 1) / 2};
    if (has_ended == of_ended) {
        life.left = n_kept(thread->totals);
        life.wants_start = !has_ended && joins(thread->process);
    }
    return life;
}

static void read_slot(struct search *search, struct pt_process *process, const struct pt_trace_slot *slot,
                      bool of_ended)
{
    const struct pt_process_data *data = pt_process_data_of(process);
    const struct pt_slot_blocks *blocks = &slot->blocks[PT_BUFFER_RECORDS];
    const struct pt_decode_source from = {.file = process->file,
                                          .schema = data->schema,
                                          .scale = &data->scale,
                                          .blocks = blocks,
                                          .categories = PT_CATEGORY_GPU | PT_CATEGORY_NET | PT_CATEGORY_PROC};
    struct life life = {0};
    for (size_t i = 0; i < blocks->runs.n; i++) {
        struct pt_thread *thread = pt_process_thread(process, slot->slot, blocks->runs.items[i].life);
        if (!thread)
            return;
        if (thread != life.thread)
            life = begin_life(search, thread, of_ended);
        read_run(search, &life, &from, &blocks->runs.items[i]);
    }
}

static size_t blocks_of_window(const struct pt_session *session, pt_i64 from_ns)
{
    size_t n = 0;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *process = session->processes[i];
        const struct pt_clock_scale *scale = &pt_process_data_of(process)->scale;
        for (size_t s = 0; s < process->file->slots.n; s++) {
            const struct pt_slot_blocks *blocks = &process->file->slots.items[s].blocks[PT_BUFFER_RECORDS];
            for (size_t b = 0; b < blocks->n; b++)
                n += pt_scale_time(scale, blocks->items[b].first_ticks) >= from_ns;
        }
    }
    return n;
}

static int by_time(const void *a, const void *b)
{
    const struct pt_event *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->process->index != y->process->index ? (x->process->index < y->process->index ? -1 : 1) : 0;
}

static int by_process(const void *a, const void *b)
{
    const struct pt_event *x = a, *y = b;
    return x->process->index != y->process->index ? (x->process->index < y->process->index ? -1 : 1) : by_time(a, b);
}

static pt_u32 hand_over(struct events *list, int (*compare)(const void *, const void *), struct pt_event **ret_items)
{
    if (list->n)
        qsort(list->items, list->n, sizeof *list->items, compare);
    *ret_items = list->items;
    return (pt_u32)list->n;
}

static void read_process(struct search *search, struct pt_process *process, bool of_ended)
{
    for (size_t s = 0; s < process->file->slots.n; s++)
        read_slot(search, process, &process->file->slots.items[s], of_ended);
}

/* Those behind one that is known are, too: of a long chain of forks each one is looked at once. */
static void read_makers(struct search *search, const struct pt_session *session)
{
    PT_AUTO(pt_freep)
    bool *is_known = pt_calloc((size_t)session->n_processes + session->n_before_window + 1, sizeof *is_known);
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_process *maker = session->processes[i];
        while ((maker = pt_process_inherits_from(maker)) && !is_known[maker->index]) {
            is_known[maker->index] = true;
            if (is_left_out(maker) && has_connections(maker->totals))
                read_process(search, session->processes[maker->index], true);
        }
    }
}

void pt_session_find_before(struct pt_session *session, pt_i64 from_ns)
{
    struct search search = {.from_ns = from_ns,
                            .blocks_left = blocks_of_window(session, from_ns) + MOST_BLOCKS_MORE,
                            .decoder = pt_decoder_new(),
                            .batch = pt_malloc(sizeof *search.batch)};
    /* A thousand threads that have ended must not use up what is to be read of those that go on. */
    for (int of_ended = 0; of_ended < 2; of_ended++)
        for (pt_u32 i = 0; i < session->n_processes; i++) {
            struct pt_process *process = session->processes[i];
            if (n_kept(process->totals) || (!of_ended && joins(process)))
                read_process(&search, process, of_ended);
        }
    read_makers(&search, session);
    session->n_states = hand_over(&search.states, by_process, &session->states);
    session->n_earlier = hand_over(&search.earlier, by_time, &session->earlier);
    session->n_earlier_starts = hand_over(&search.starts, by_process, &session->earlier_starts);
    for (pt_u32 i = 0; i < session->n_states; i++)
        session->states[i].start_ns = from_ns;
    pt_map_fini(&search.places);
    pt_decoder_free(search.decoder);
    free(search.batch);
}
