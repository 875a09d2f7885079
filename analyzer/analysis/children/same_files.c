/* SPDX-License-Identifier: MIT
 *
 * Owns: what each worker reads of each file, and the pools in which all workers read all of the same files, from the
 * beginning to the end. Threads: one. Never: takes for that what is read here and there (each worker its samples), what
 * is kept (read at the start, not for samples), or a small file beside the data; remembers more than MOST_READS files.
 */
#include "same_files.h"

#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "facts/code_kind.h"

enum { MOST_READS = 1 << 17, MOST_JUMPS_PER_OPEN = 4, READS_PER_JUMP = 4, HEADER_BYTES = 4096 };
#define WHOLE 0.9
#define NEARLY_ALL_BYTES 0.8
/* Of the time from the first of these reads to the last result. */
#define LEAST_SPAN 0.5

static bool is_data(const char *path)
{
    return path && *path == '/' && strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0 &&
           strncmp(path, "/sys/", 5) != 0 && !pt_code_is_program_file(path);
}

/* NULL: no data, or there are too many of them. */
static struct pt_children_read *read_of(struct pt_children_reads *reads, const struct pt_event *e, pt_u32 path,
                                        pt_u32 dir_path)
{
    if (!path || reads->n >= MOST_READS)
        return NULL;
    pt_u64 *slot = pt_id_map_at(&reads->by_path, e->process->index, path);
    if (!*slot) {
        const char *name = pt_process_absolute_path(e->process, path, dir_path);
        pt_vec_push(reads, ((struct pt_children_read){.process = e->process, .path = is_data(name) ? name : NULL}));
        *slot = reads->n;
    }
    struct pt_children_read *read = &reads->items[*slot - 1];
    return read->path ? read : NULL;
}

static void was_read(struct pt_children_read *read, const struct pt_event *e, pt_u64 offset_bytes, pt_u64 bytes)
{
    read->jumps += offset_bytes != read->position_bytes && offset_bytes > HEADER_BYTES;
    read->reads++;
    read->bytes += bytes;
    read->position_bytes = offset_bytes + bytes;
    read->first_ns = read->first_ns ? read->first_ns : e->start_ns;
    read->last_ns = pt_event_end_ns(e);
    pt_coverage_add(&read->coverage, offset_bytes, bytes);
}

void pt_children_note_read(struct pt_children *children, const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_io_open && e->result >= 0) {
        const struct pt_ev_io_open *open = pt_event_as(e, io_open);
        struct pt_children_read *read = read_of(&children->reads, e, open->path, open->dir_path);
        if (read) {
            read->opens++;
            read->position_bytes = 0;
        }
        return;
    }
    const bool has_offset = e->desc->kind == PT_KIND_io_pread || e->desc->kind == PT_KIND_io_preadv;
    if (e->desc->kind == PT_KIND_io_seek) {
        const struct pt_ev_io_seek *seek = pt_event_as(e, io_seek);
        struct pt_children_read *read = read_of(&children->reads, e, seek->path, 0);
        if (read && seek->position_bytes >= 0 && (pt_u64)seek->position_bytes != read->position_bytes) {
            read->jumps += seek->position_bytes > HEADER_BYTES;
            read->position_bytes = (pt_u64)seek->position_bytes;
        }
    } else if (has_offset || e->desc->kind == PT_KIND_io_read || e->desc->kind == PT_KIND_io_readv) {
        const struct pt_ev_io_read *fields = (const struct pt_ev_io_read *)(const void *)e->payload;
        struct pt_children_read *read = fields->result > 0 ? read_of(&children->reads, e, fields->path, 0) : NULL;
        if (read)
            was_read(read, e, has_offset ? fields->requested_bytes : read->position_bytes, (pt_u64)fields->result);
    }
}

void pt_children_reads_free(struct pt_children_reads *reads)
{
    free(reads->items);
    pt_id_map_fini(&reads->by_path);
    *reads = (struct pt_children_reads){0};
}

/* ---- pools ---- */

static int compare(pt_u64 a, pt_u64 b)
{
    return (a > b) - (a < b);
}

/* Workers of one maker that start together and answer by the same queue. */
static int by_pool(const struct pt_children_read *a, const struct pt_children_read *b)
{
    const int by_maker = compare(a->pool.maker, b->pool.maker);
    const int by_start = by_maker ? by_maker : compare(a->pool.batch_of_starts, b->pool.batch_of_starts);
    return by_start ? by_start : compare(a->pool.results, b->pool.results);
}

static int by_pool_and_path(const void *a, const void *b)
{
    const struct pt_children_read *x = a, *y = b;
    const int by = by_pool(x, y);
    const int by_path = by ? by : compare((uintptr_t)x->path, (uintptr_t)y->path);
    return by_path ? by_path : compare(x->process->index, y->process->index);
}

struct pool {
    pt_u32 workers, files; /* files: read by all of them as a whole */
    pt_u64 bytes, same_bytes;
    pt_i64 first_ns, last_ns, sent_ns;
};

/* From the beginning to the end, as often as it was opened. */
static bool is_whole(const struct pt_children_read *read, pt_u64 end_bytes)
{
    const double all = (double)end_bytes * read->opens;
    return (double)pt_coverage_bytes(&read->coverage) >= WHOLE * (double)end_bytes &&
           (double)read->bytes >= WHOLE * all && WHOLE * (double)read->bytes <= all &&
           (read->jumps <= (pt_u64)MOST_JUMPS_PER_OPEN * read->opens || read->jumps * READS_PER_JUMP <= read->reads);
}

/* One file in one pool: a row for each worker that has read it. Workers that draw files by lot open them differently
 * often. */
static void add_file(struct pool *pool, const struct pt_children_read *reads, size_t n)
{
    pt_u64 end_bytes = 0, bytes = 0;
    bool is_same = n == pool->workers;
    for (size_t i = 0; i < n; i++) {
        end_bytes = reads[i].coverage.end_bytes > end_bytes ? reads[i].coverage.end_bytes : end_bytes;
        bytes += reads[i].bytes;
    }
    for (size_t i = 0; i < n && is_same; i++)
        is_same = reads[i].opens == reads[0].opens && is_whole(&reads[i], end_bytes);
    pool->bytes += bytes;
    if (!is_same || !bytes)
        return;
    pool->same_bytes += bytes;
    pool->files++;
    for (size_t i = 0; i < n; i++) {
        pool->first_ns = pool->first_ns && pool->first_ns < reads[i].first_ns ? pool->first_ns : reads[i].first_ns;
        pool->last_ns = pool->last_ns > reads[i].last_ns ? pool->last_ns : reads[i].last_ns;
    }
}

static struct pool pool_of(const struct pt_children *children, const struct pt_children_read *reads, size_t n)
{
    struct pool pool = {0};
    const struct pt_session *session = children->profile->session;
    for (pt_u32 i = 0; i < session->n_processes; i++) {
        const struct pt_children_process *own = &children->processes[session->processes[i]->index];
        if (!own->is_worker || pt_maker_of(session->processes[i])->index != reads[0].pool.maker ||
            own->batch_of_starts != reads[0].pool.batch_of_starts || own->results != reads[0].pool.results)
            continue;
        pool.workers++;
        pool.sent_ns = own->last_sent_ns > pool.sent_ns ? own->last_sent_ns : pool.sent_ns;
    }
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && reads[end].path == reads[i].path;)
            end++;
        add_file(&pool, reads + i, end - i);
    }
    return pool;
}

static bool reads_the_same(const struct pool *pool)
{
    return pool->workers > 1 && pool->files && (double)pool->same_bytes >= NEARLY_ALL_BYTES * (double)pool->bytes &&
           (double)(pool->last_ns - pool->first_ns) >= LEAST_SPAN * (double)(pool->sent_ns - pool->first_ns);
}

/* Of a stage, by pool and path. To be freed. */
static struct pt_children_read *sorted_reads(const struct pt_children *children, pt_u32 stage, size_t *ret_n)
{
    struct pt_children_read *reads = pt_calloc(children->reads.n + 1, sizeof *reads);
    size_t n = 0;
    for (size_t i = 0; i < children->reads.n; i++) {
        const struct pt_children_read *read = &children->reads.items[i];
        const struct pt_children_process *own = &children->processes[read->process->index];
        if (!read->path || !read->bytes || !own->is_worker ||
            pt_profile_stage_of(children->profile, read->process) != stage)
            continue;
        reads[n] = *read;
        reads[n].pool.maker = pt_maker_of(read->process)->index;
        reads[n].pool.batch_of_starts = own->batch_of_starts;
        reads[n++].pool.results = own->results;
    }
    qsort(reads, n, sizeof *reads, by_pool_and_path);
    *ret_n = n;
    return reads;
}

void pt_children_same_files_results(const struct pt_children *children, pt_u32 stage)
{
    struct pt_metrics *metrics = &children->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    size_t n = 0;
    struct pt_children_read *reads = sorted_reads(children, stage, &n);
    struct pool most = {0};
    double cost_ns = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && !by_pool(&reads[i], &reads[end]);)
            end++;
        const struct pool pool = pool_of(children, reads + i, end - i);
        if (!reads_the_same(&pool))
            continue;
        /* One of them would do in that time what all of them do. */
        cost_ns += (double)(pool.last_ns - pool.first_ns) * (pool.workers - 1) / pool.workers;
        most = pool.same_bytes > most.same_bytes ? pool : most;
    }
    free(reads);
    if (children->reads.n >= MOST_READS || !most.workers)
        return;
    pt_metrics_set(metrics, scope, "helpers.same_files.cost_s", pt_real(cost_ns / 1e9));
    pt_metrics_set(metrics, scope, "helpers.same_files.workers", pt_integer(most.workers));
    pt_metrics_set(metrics, scope, "helpers.same_files.files.count", pt_integer(most.files));
    pt_metrics_set(metrics, scope, "helpers.same_files.bytes", pt_integer(most.same_bytes / most.workers));
}
