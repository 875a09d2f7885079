/* SPDX-License-Identifier: MIT
 *
 * threads.c - Owns: threads, and the exact totals of each: the totals in the current bank of its slot, plus records
 * that the bank does not cover yet, minus the totals of earlier threads of the slot. Threads: one, while the session is
 * opened. Never: counts an event twice.
 */
#include "threads.h"

#include <stdlib.h>
#include <string.h>

#include "holes.h"

/* Lives that are told apart; each slot has one, however many that makes. */
enum { MAX_THREADS = 16384 };

/* A slot's counters at one instant, cumulative over its lives, in ns and kinds of this build. */
struct snapshot {
    struct pt_kind_totals totals[PT_KIND__COUNT];
    pt_u64 heap_allocs, heap_bytes, heap_frees;
};

/* Working memory, for all slots of a process. */
struct work {
    struct snapshot before, then, now;
    struct pt_kind_totals of_thread[PT_KIND__COUNT], of_process[PT_KIND__COUNT];
    struct pt_thread_area area; /* of the slot */
};

static pt_u64 minus(pt_u64 now, pt_u64 before)
{
    return now > before ? now - before : 0;
}

static void add_stored_totals(const struct pt_process_data *data, struct snapshot *to, pt_u64 file_row,
                              const struct pt_totals *t)
{
    if (file_row >= PT_TOTALS_ROWS || data->schema->kind_of_row[file_row] == PT_NO_KIND)
        return;
    const struct pt_kind_totals totals = {t->calls, t->errors, t->bytes,
                                          (pt_u64)pt_scale_duration(&data->scale, t->ticks)};
    pt_kind_totals_add(&to->totals[data->schema->kind_of_row[file_row]], &totals);
}

/* ---- finding the lives of a slot ---- */

/* `lives` = index + 1 of the slot's threads by life: a slot may have had thousands. */
static struct pt_thread *add_thread(struct pt_process *p, struct pt_map *lives, pt_u32 slot, pt_u32 life, pt_u32 tid)
{
    const uint64_t *known = pt_map_find(lives, life);
    if (known)
        return &p->threads[*known - 1];
    if (p->n_threads >= MAX_THREADS && lives->n)
        return NULL;
    if (!(p->n_threads & (p->n_threads - 1)))
        p->threads = pt_realloc(p->threads, (p->n_threads ? p->n_threads * 2 : 1) * sizeof *p->threads);
    struct pt_thread *thread = &p->threads[p->n_threads++];
    *pt_map_at(lives, life) = p->n_threads;
    memset(thread, 0, sizeof *thread);
    thread->slot = slot;
    thread->life = life;
    thread->tid = tid;
    thread->start_ns = INT64_MAX;
    return thread;
}

static int by_life(const void *a, const void *b)
{
    const struct pt_thread *x = a, *y = b;
    return x->life < y->life ? -1 : x->life > y->life;
}

static void touch(struct pt_thread *thread, pt_i64 from, pt_i64 until)
{
    if (!thread)
        return;
    thread->start_ns = from < thread->start_ns ? from : thread->start_ns;
    thread->end_ns = until > thread->end_ns ? until : thread->end_ns;
}

/* Its size was checked by list_ends. */
static struct pt_def_thread_end read_end(const struct pt_definition *def)
{
    struct pt_def_thread_end end;
    memcpy(&end, def->payload, sizeof end);
    const pt_u32 room = (def->bytes - (pt_u32)sizeof end) / (pt_u32)sizeof(struct pt_def_thread_row);
    end.rows = end.rows < room ? end.rows : room;
    return end;
}

static int by_slot_and_life(const void *a, const void *b)
{
    const struct pt_definition *const *p = a, *const *q = b;
    const struct pt_def_thread_end x = read_end(*p), y = read_end(*q);
    if (x.slot != y.slot)
        return x.slot < y.slot ? -1 : 1;
    if (x.life != y.life)
        return x.life < y.life ? -1 : 1;
    return *p < *q ? -1 : *p > *q;
}

static void list_ends(struct pt_process_data *data)
{
    const struct pt_trace_file *file = data->shown.file;
    for (size_t i = 0; i < file->definitions.n; i++) {
        const struct pt_definition *def = &file->definitions.items[i];
        if (def->type == PT_DEF_THREAD_END && def->bytes >= sizeof(struct pt_def_thread_end))
            pt_vec_push(&data->thread_ends, def);
    }
    if (data->thread_ends.n)
        qsort(data->thread_ends.items, data->thread_ends.n, sizeof *data->thread_ends.items, by_slot_and_life);
}

/* Index of the first end at or behind (slot, life). */
static size_t first_end(const struct pt_process_data *data, pt_u32 slot, pt_u32 life)
{
    size_t low = 0, high = data->thread_ends.n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct pt_def_thread_end end = read_end(data->thread_ends.items[middle]);
        if (end.slot < slot || (end.slot == slot && end.life < life))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool pt_thread_noted_end(const struct pt_thread *thread)
{
    const struct pt_process_data *data = pt_process_data_of(thread->process);
    const size_t index = first_end(data, thread->slot, thread->life);
    if (index == data->thread_ends.n)
        return false;
    const struct pt_def_thread_end end = read_end(data->thread_ends.items[index]);
    return end.slot == thread->slot && end.life == thread->life;
}

static void find_lives(struct pt_process_data *data, const struct pt_trace_slot *slot,
                       const struct pt_thread_area *area)
{
    struct pt_process *p = &data->shown;
    const struct pt_clock_scale *scale = &data->scale;
    const pt_u32 first = p->n_threads;
    struct pt_map lives = {0};
    for (int s = 0; s < PT_BUFFER__COUNT; s++)
        for (size_t i = 0; i < slot->blocks[s].runs.n; i++) {
            const struct pt_block_run *run = &slot->blocks[s].runs.items[i];
            if (run->events)
                touch(add_thread(p, &lives, slot->slot, run->life, run->tid), pt_scale_time(scale, run->first_ticks),
                      pt_scale_time(scale, run->last_ticks));
        }
    if (area->tid) {
        const pt_i64 start = pt_scale_time(scale, area->start_ticks);
        touch(add_thread(p, &lives, slot->slot, area->life, area->tid), start, start);
    }
    for (size_t i = first_end(data, slot->slot, 0); i < data->thread_ends.n; i++) {
        const struct pt_def_thread_end end = read_end(data->thread_ends.items[i]);
        if (end.slot != slot->slot)
            break;
        const pt_i64 last = pt_scale_time(scale, end.last_ticks);
        touch(add_thread(p, &lives, slot->slot, end.life, end.tid), INT64_MAX, last);
    }
    pt_map_fini(&lives);
    if (p->n_threads > first)
        qsort(p->threads + first, p->n_threads - first, sizeof *p->threads, by_life);
}

/* ---- totals ---- */

/* With PROFTRACE_HEAP=off the library counts releases even so: to ask there would cost each free() a branch. Nothing
 * else of the heap is known then, and time that they took would be missing in the sum of what is known. */
static pt_u64 known_frees(const struct pt_process_data *data, pt_u64 frees)
{
    return data->shown.heap_mode == PT_HEAP_OFF ? 0 : frees;
}

static struct pt_heap_totals heap_of(const struct pt_process_data *data, const struct pt_thread_area *area)
{
    struct pt_heap_totals heap = {.frees = known_frees(data, area->heap_frees), .failures = area->heap_failures};
    for (int c = 0; c < PT_HEAP_CLASSES; c++) {
        heap.classes[c].count = pt_sum(area->heap_spilled[c].count, area->heap_packed[c] >> 40);
        heap.classes[c].bytes = pt_sum(area->heap_spilled[c].bytes, area->heap_packed[c] & ((1ull << 40) - 1));
        heap.allocs = pt_sum(heap.allocs, heap.classes[c].count);
        heap.bytes = pt_sum(heap.bytes, heap.classes[c].bytes);
    }
    return heap;
}

static void add_heap(struct pt_heap_totals *to, const struct pt_heap_totals *from)
{
    to->allocs = pt_sum(to->allocs, from->allocs);
    to->bytes = pt_sum(to->bytes, from->bytes);
    to->frees = pt_sum(to->frees, from->frees);
    to->failures = pt_sum(to->failures, from->failures);
    for (int c = 0; c < PT_HEAP_CLASSES; c++) {
        to->classes[c].count = pt_sum(to->classes[c].count, from->classes[c].count);
        to->classes[c].bytes = pt_sum(to->classes[c].bytes, from->classes[c].bytes);
    }
}

/* The last thing known of a thread is the end of a call, not its start. */
static void lengthen(struct pt_process_data *data, const struct pt_trace_slot *slot, size_t item,
                     const struct pt_batch *batch)
{
    const struct pt_block_run *run = pt_slot_blocks_run(&slot->blocks[PT_BUFFER_RECORDS], item);
    struct pt_thread *thread = run && batch->n ? pt_process_thread(&data->shown, slot->slot, run->life) : NULL;
    const pt_i64 end_ns = batch->n ? batch->items[batch->n - 1].end_ns : 0; /* they are in the order of their ends */
    if (thread && end_ns > thread->end_ns)
        thread->end_ns = end_ns;
}

struct pt_kind_totals pt_kind_totals_of_item(const struct pt_item *item)
{
    struct pt_totals one = {0};
    pt_totals_add(&one, pt_event_desc_by_id(item->tag_kind & 0xff), item->words, (pt_u64)item->duration_ns);
    return (struct pt_kind_totals){one.calls, one.errors, one.bytes, one.ticks};
}

static void add_events(const struct pt_batch *batch, struct snapshot *now)
{
    for (pt_u32 k = 0; k < batch->n; k++) {
        const struct pt_item *item = &batch->items[k];
        const struct pt_kind_totals totals = pt_kind_totals_of_item(item);
        pt_kind_totals_add(&now->totals[pt_kind_of_item(item)], &totals);
    }
}

/* Records that came after the bank was written (format rule 3); of a process that noted no end the last ones even so:
 * they say how long it lived. */
static void add_uncovered(struct pt_process_data *data, const struct pt_trace_slot *slot, pt_u64 totals_seq,
                          struct snapshot *now)
{
    const struct pt_slot_blocks *blocks = &slot->blocks[PT_BUFFER_RECORDS];
    const struct pt_decode_source source = {
        .file = data->shown.file, .schema = data->schema, .scale = &data->scale, .blocks = blocks};
    const size_t uncovered = pt_slot_blocks_behind(blocks, totals_seq);
    const bool wants_end = data->shown.state == PT_PROCESS_LIVE && blocks->n && uncovered >= blocks->n;
    const size_t first = wants_end ? blocks->n - 1 : uncovered;
    if (first >= blocks->n)
        return;
    struct pt_decoder *decoder = pt_decoder_new();
    struct pt_batch *batch = pt_malloc(sizeof *batch);
    for (size_t i = first; i < blocks->n; i++) {
        pt_decode(decoder, &source, i, batch);
        lengthen(data, slot, i, batch);
        if (i >= uncovered)
            add_events(batch, now);
    }
    pt_decoder_free(decoder);
    free(batch);
}

static void take_current(struct pt_process_data *data, const struct pt_trace_slot *slot,
                         const struct pt_thread_area *area, const struct pt_heap_totals *heap, struct snapshot *now)
{
    memset(now, 0, sizeof *now);
    for (pt_u32 kind = 0; kind < PT_TOTALS_ROWS; kind++)
        add_stored_totals(data, now, kind, &area->totals[area->totals_seq & 1][kind]);
    add_uncovered(data, slot, area->totals_seq, now);
    now->heap_allocs = heap->allocs;
    now->heap_bytes = heap->bytes;
    now->heap_frees = heap->frees;
}

static bool take_end(struct pt_process_data *data, pt_u32 slot, pt_u32 life, struct snapshot *then)
{
    const size_t index = first_end(data, slot, life);
    if (index == data->thread_ends.n)
        return false;
    const struct pt_definition *def = data->thread_ends.items[index];
    const struct pt_def_thread_end end = read_end(def);
    if (end.slot != slot || end.life != life)
        return false;
    memset(then, 0, sizeof *then);
    for (pt_u32 r = 0; r < end.rows; r++) {
        struct pt_def_thread_row row;
        memcpy(&row, def->payload + sizeof end + r * sizeof row, sizeof row);
        add_stored_totals(data, then, row.row, &row.totals);
    }
    then->heap_allocs = end.heap_allocs;
    then->heap_bytes = end.heap_bytes;
    then->heap_frees = known_frees(data, end.heap_frees);
    return true;
}

/* What a thread added to its slot's counters: the difference of two snapshots. */
static void set_difference(struct pt_thread *thread, const struct snapshot *before, const struct snapshot *after,
                           struct pt_kind_totals *totals)
{
    for (int r = 0; r < PT_KIND__COUNT; r++)
        totals[r] = (struct pt_kind_totals){minus(after->totals[r].calls, before->totals[r].calls),
                                            minus(after->totals[r].errors, before->totals[r].errors),
                                            minus(after->totals[r].bytes, before->totals[r].bytes),
                                            minus(after->totals[r].ns, before->totals[r].ns)};
    thread->heap_allocs = minus(after->heap_allocs, before->heap_allocs);
    thread->heap_bytes = minus(after->heap_bytes, before->heap_bytes);
    thread->heap_frees = minus(after->heap_frees, before->heap_frees);
}

const pt_u16 pt_counted_kinds[PT_COUNTED_ROWS] = {
    [PT_COUNTED_READ_DIR] = PT_KIND_meta_read_dir,
    [PT_COUNTED_STDIO_READ_CHAR] = PT_KIND_stdio_char,
    [PT_COUNTED_STDIO_WRITE_CHAR] = PT_KIND_stdio_char,
};

static void add_counted(const struct pt_thread_area *area, struct pt_kind_totals *to)
{
    for (pt_u32 c = 0; c < PT_COUNTED_ROWS; c++) {
        const struct pt_kind_totals totals = {.calls = area->counted_calls[c], .bytes = area->counted_bytes[c]};
        pt_kind_totals_add(&to[pt_counted_kinds[c]], &totals);
    }
}

static bool has_any(const struct pt_kind_totals *totals)
{
    return totals->calls || totals->errors || totals->bytes || totals->ns;
}

const struct pt_totals_by_kind *pt_totals_keep(struct pt_arena *arena, const struct pt_kind_totals *totals)
{
    pt_u8 n = 0;
    for (int kind = 0; kind < PT_KIND__COUNT; kind++)
        n += has_any(&totals[kind]);
    if (!n)
        return NULL;
    struct pt_totals_by_kind *kept = pt_arena_alloc(arena, sizeof *kept + (n + 1u) * sizeof kept->rows[0]);
    memset(kept, 0, sizeof *kept + sizeof kept->rows[0]);
    n = 0;
    for (int kind = 0; kind < PT_KIND__COUNT; kind++)
        if (has_any(&totals[kind])) {
            kept->place[kind] = ++n;
            kept->rows[n] = totals[kind];
        }
    return kept;
}

static void fill_slot(struct pt_process_data *data, const struct pt_trace_slot *slot, struct work *work)
{
    struct pt_process *p = &data->shown;
    const pt_u32 first = p->n_threads;
    const struct pt_thread_area *area = &work->area;
    struct snapshot *before = &work->before, *then = &work->then, *now = &work->now;
    pt_trace_slot_area(slot, &work->area);
    find_lives(data, slot, area);
    if (p->n_threads > first)
        pt_threads_find_holes(data, slot, p->threads + first, p->n_threads - first);
    const struct pt_heap_totals heap = heap_of(data, area);
    take_current(data, slot, area, &heap, now);
    for (int r = 0; r < PT_KIND__COUNT; r++)
        pt_kind_totals_add(&work->of_process[r], &now->totals[r]);
    add_counted(area, work->of_process);
    memset(before, 0, sizeof *before);
    for (pt_u32 i = first; i < p->n_threads; i++) {
        const bool is_last = i + 1 == p->n_threads;
        if (is_last || !take_end(data, slot->slot, p->threads[i].life, then))
            memcpy(then, is_last ? now : before, sizeof *then);
        set_difference(&p->threads[i], before, then, work->of_thread);
        if (is_last)
            add_counted(area, work->of_thread);
        p->threads[i].totals = pt_totals_keep(&data->arena, work->of_thread);
        memcpy(before, then, sizeof *before);
    }
    if (heap.allocs || heap.frees || heap.failures || p->heap_mode == PT_HEAP_FULL)
        data->slot_heaps[data->n_slot_heaps++] = (struct pt_slot_heap){slot->slot, heap};
}

/* The sum of all slots; of one slot, which most processes have, its own. */
static const struct pt_heap_totals *heap_of_all(struct pt_process_data *data)
{
    static const struct pt_heap_totals none;
    if (data->n_slot_heaps < 2)
        return data->n_slot_heaps ? &data->slot_heaps[0].totals : &none;
    struct pt_heap_totals *sum = pt_arena_alloc(&data->arena, sizeof *sum);
    *sum = none;
    for (pt_u32 i = 0; i < data->n_slot_heaps; i++)
        add_heap(sum, &data->slot_heaps[i].totals);
    return sum;
}

void pt_process_fill_threads(struct pt_process_data *data)
{
    struct pt_process *p = &data->shown;
    struct work *work = pt_calloc(1, sizeof *work);
    list_ends(data);
    data->slot_heaps = pt_calloc(p->file->slots.n, sizeof *data->slot_heaps);
    for (size_t i = 0; i < p->file->slots.n; i++)
        fill_slot(data, &p->file->slots.items[i], work);
    p->totals = pt_totals_keep(&data->arena, work->of_process);
    p->heap = heap_of_all(data);
    free(work);
    for (pt_u32 i = 0; i < p->n_threads; i++) {
        struct pt_thread *thread = &p->threads[i];
        thread->process = p;
        thread->index = i;
        if (thread->start_ns == INT64_MAX)
            thread->start_ns = thread->end_ns > p->start_ns ? thread->end_ns : p->start_ns;
        if (thread->end_ns < thread->start_ns)
            thread->end_ns = thread->start_ns;
    }
}

struct pt_thread *pt_process_thread(struct pt_process *process, pt_u32 slot, pt_u32 life)
{
    pt_u32 low = 0, high = process->n_threads;
    while (low < high) {
        const pt_u32 middle = (low + high) / 2;
        const struct pt_thread *t = &process->threads[middle];
        if (t->slot < slot || (t->slot == slot && t->life < life))
            low = middle + 1;
        else
            high = middle;
    }
    /* Beyond the limit of threads a life has no entry of its own: its events go to the nearest entry of the slot. */
    if (low && (low == process->n_threads || process->threads[low].slot != slot))
        low--;
    return process->n_threads ? &process->threads[low] : NULL;
}

static bool lived(const struct pt_thread *thread, pt_u32 tid, pt_i64 at_ns)
{
    return thread->tid == tid && thread->start_ns <= at_ns && thread->end_ns >= at_ns;
}

struct pt_thread *pt_process_thread_by_tid(struct pt_process *process, pt_u32 tid, pt_i64 at_ns)
{
    struct pt_process_data *data = pt_process_data_of(process); /* most calls ask for the same thread as before */
    if (data->last_found < process->n_threads && lived(&process->threads[data->last_found], tid, at_ns))
        return &process->threads[data->last_found];
    struct pt_thread *found = NULL;
    for (pt_u32 i = 0; i < process->n_threads; i++) {
        struct pt_thread *t = &process->threads[i];
        if (lived(t, tid, at_ns)) {
            data->last_found = i;
            return t;
        }
        if (t->tid == tid && (!found || (t->start_ns <= at_ns && t->start_ns > found->start_ns)))
            found = t;
    }
    return found;
}
