/* SPDX-License-Identifier: MIT
 *
 * process.c - Owns: what a process is, from its file's header, text and blocks. Threads: one, while the session is
 * opened. Never: takes a damaged number for a true one.
 */
#include "process.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "layers.h"
#include "names.h"
#include "threads.h"

static void fill_text(struct pt_process *p)
{
    const struct pt_trace_file *file = p->file;
    p->exe = pt_trace_file_text(file, PT_TEXT_EXE);
    p->cwd = pt_trace_file_text(file, PT_TEXT_CWD);
    p->host = pt_trace_file_text(file, PT_TEXT_HOST);
    p->comm = pt_trace_file_text(file, PT_TEXT_COMM);
    p->stage = pt_trace_file_text(file, PT_TEXT_STAGE);
    const long argc = atol(pt_trace_file_text(file, PT_TEXT_ARGC));
    const char *at = pt_trace_file_text(file, PT_TEXT_ARGV), *end = file->text + file->text_bytes;
    p->argv = pt_calloc(PT_TEXT_BYTES + 1, sizeof *p->argv);
    for (; at >= file->text && at < end && p->argc < argc && p->argc < (int)PT_TEXT_BYTES; at += strlen(at) + 1)
        p->argv[p->argc++] = at;
    p->argv = pt_realloc(p->argv, ((size_t)p->argc + 1) * sizeof *p->argv);
    p->true_argc = argc > p->argc && argc < INT_MAX ? (int)argc : p->argc;
}

static void fill_header(struct pt_process *p, const struct pt_file_header *h)
{
    p->trace_id = h->trace_id;
    p->parent_trace_id = h->parent_trace_id;
    p->pid = h->pid;
    p->ppid = h->ppid;
    p->uid = h->uid;
    p->start_realtime_ns = h->realtime_ns;
    p->state = h->state == PT_PROCESS_EXITED || h->state == PT_PROCESS_EXECED ? (enum pt_process_state)h->state
                                                                              : PT_PROCESS_LIVE;
    p->exit_status = h->exit_status;
    p->cpu_ns = h->cpu_ns;
    p->max_rss_bytes = h->max_rss_bytes;
    p->heap_mode = h->heap_mode <= PT_HEAP_FULL ? (enum pt_heap_mode)h->heap_mode : PT_HEAP_OFF;
    p->heap_sample_bytes = h->heap_sample_bytes;
    p->rank = h->rank_plus_1 <= INT32_MAX ? (pt_i64)h->rank_plus_1 - 1 : -1;
    p->local_rank = h->local_rank_plus_1 <= INT32_MAX ? (pt_i64)h->local_rank_plus_1 - 1 : -1;
    p->world_size = h->world_size <= INT32_MAX ? h->world_size : 0;
}

/* Events that were counted as not stored. A missing name or an uncompressed block is not a lost event. */
static pt_u64 sum_drops(const pt_u64 *drops)
{
    pt_u64 sum = 0;
    for (int d = 0; d < PT_DROP__COUNT; d++)
        if (d != PT_DROP_definition && d != PT_DROP_compress)
            sum = pt_sum(sum, drops[d]);
    return sum;
}

/* Events of a thread that were given to blocks and are not there. Those without space were counted like those that were
 * overwritten later; a gap between two blocks is damage, unless a block found no space there and the next, a smaller
 * one, did. */
static void add_missing(struct pt_quality *q, const struct pt_trace_slot *slot, pt_u64 no_space)
{
    pt_u64 missing = 0, inside = 0, blocks_inside = 0;
    for (int s = 0; s < PT_BUFFER__COUNT; s++) {
        const struct pt_slot_blocks *blocks = &slot->blocks[s];
        q->events = pt_sum(q->events, blocks->events);
        missing = pt_sum(missing, blocks->missing > blocks->missing_inside ? blocks->missing : blocks->missing_inside);
        inside = pt_sum(inside, blocks->missing_inside);
        blocks_inside = pt_sum(blocks_inside, blocks->missing_blocks);
    }
    const pt_u64 unexplained = missing > no_space ? missing - no_space : 0;
    const pt_u64 damaged = inside < unexplained ? inside : unexplained;
    q->corrupt_events = pt_sum(q->corrupt_events, damaged);
    q->corrupt_blocks = pt_sum(q->corrupt_blocks, damaged ? blocks_inside : 0);
    q->overwritten = pt_sum(q->overwritten, unexplained - damaged);
}

/* There was always room for one more segment. */
static bool never_wrapped(const struct pt_file_header *header)
{
    return header->file_bytes < header->ring_limit_bytes && !header->growth_failures;
}

static void fill_quality(struct pt_process *p)
{
    struct pt_quality *q = &p->quality;
    const struct pt_trace_file *file = p->file;
    for (int d = 0; d < PT_DROP__COUNT; d++)
        q->drops[d] = file->header->drops[d];
    for (size_t i = 0; i < file->slots.n; i++) {
        const struct pt_trace_slot *slot = &file->slots.items[i];
        struct pt_thread_area area;
        pt_trace_slot_area(slot, &area);
        for (int d = 0; d < PT_DROP__COUNT; d++)
            q->drops[d] = pt_sum(q->drops[d], area.drops[d]);
        add_missing(q, slot, area.drops[PT_DROP_no_space]);
    }
    q->corrupt_blocks = pt_sum(q->corrupt_blocks, file->corrupt_blocks);
    q->corrupt_definitions = file->corrupt_definitions;
    q->truncated = file->truncated;
    q->growth_errno = file->header->growth_errno;
    q->is_area_cut = file->is_area_cut;
    q->read_errno = file->read_errno;
    q->dropped = sum_drops(q->drops);
    const pt_u64 least_bytes = pt_least_file_bytes(file->header);
    if (q->truncated)
        q->cut_bytes = least_bytes > file->bytes ? least_bytes - file->bytes : 0;
    /* Missing events prove no overwriting: they may have been in the tail, or in the segments. */
    if (q->truncated || (file->corrupt_segments && never_wrapped(file->header))) {
        q->corrupt_events = pt_sum(q->corrupt_events, q->overwritten);
        q->overwritten = 0;
    }
}

/* As the process noted it, else the last sign of life: the end of a call, a reading of the clock. */
static void fill_end(struct pt_process_data *data)
{
    struct pt_process *p = &data->shown;
    const bool is_noted = p->state != PT_PROCESS_LIVE;
    pt_i64 last = data->last_clock_ns;
    p->cpu_noted_ns = last;
    for (pt_u32 i = 0; i < p->n_threads && !is_noted; i++)
        if (p->threads[i].end_ns > last)
            last = p->threads[i].end_ns;
    p->end_ns = last > p->start_ns ? last : p->start_ns;
    p->alive_ns = p->end_ns;
    p->gone_ns = is_noted ? p->end_ns : PT_NEVER_NS;
    p->wait_status = p->next_status = -1;
}

/* What comes before ours may pass the calls on, as other tracers do: then some were counted. */
static void find_hidden_heap(struct pt_process *p, pt_u32 options)
{
    const bool saw_none = !p->heap->allocs && !p->heap->frees;
    p->is_heap_hidden = (options & PT_OPTION_HEAP_HIDDEN) && saw_none;
    if (p->is_heap_hidden)
        p->heap_unknown = "another allocator came before the library, which saw no call of malloc";
    if ((options & PT_OPTION_HEAP_LINKED_IN) && saw_none)
        p->heap_unknown = "an allocator that is linked into the program takes all calls of malloc";
    p->is_heap_late = options & PT_OPTION_HEAP_TOO_LATE;
    if (p->is_heap_late)
        p->heap_unknown = "the library was loaded into it late, and sees no call of malloc";
}

void pt_process_fill(struct pt_process_data *data)
{
    struct pt_process *p = &data->shown;
    struct pt_trace_file *file = p->file;
    p->file_name = file->name;
    p->is_beginning = file->base && (file->header->options & PT_OPTION_MOVED);
    fill_header(p, file->header);
    pt_process_fill_layers(p, data->schema);
    fill_text(p);
    fill_quality(p);
    pt_process_fill_names(data);
    pt_process_fill_threads(data);
    find_hidden_heap(p, file->header->options);
    fill_end(data);
    pt_trace_file_drop_areas(file);
}

void pt_process_fini(struct pt_process_data *data)
{
    free(data->shown.argv);
    free(data->shown.threads);
    free(data->shown.modules);
    free(data->shown.untraced);
    free(data->slot_heaps);
    free(data->thread_ends.items);
    pt_map_fini(&data->damaged_blocks);
    pt_map_fini(&data->strings);
    pt_map_fini(&data->stacks);
    pt_map_fini(&data->frames);
    pt_map_fini(&data->paths);
    free(data->texts);
    pt_arena_fini(&data->arena);
    pt_trace_file_close(data->shown.file);
}
