/* SPDX-License-Identifier: MIT
 *
 * Waiting for storage: writes that must reach it (fsync, O_SYNC), and reads that took too long to come from memory.
 *
 * Threads: one. State: one small struct per file and stage, at most MAX_FILES, two split times per stage. Never: counts
 * a large copy out of the page cache as a wait for the device.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/code_kind.h"
#include "facts/state.h"
#include "facts/wait_kind.h"
#include "facts/path/split_time.h"
#include "util/auto.h"
#include "file_table.h"
#include "util/str.h"
#include "util/text/fold.h"

enum { MAX_FILES = 20000, MAX_ROWS = 50 };

/* The page cache gives 4 KiB within microseconds and large pieces at gigabytes per second, even while their pages are
 * faulted in. */
#define SLOW_READ_NS 100000
#define SLOW_READ_BYTES_PER_S 4e8
#define LEAST_SHOWN_NS 10000000

struct stored_file {
    const char *path; /* NULL = those above MAX_FILES */
    pt_u32 stage;
    bool must_reach_storage;
    pt_u64 syncs, sync_ns, slow_reads, slow_read_ns, slow_read_bytes;
    pt_i64 longest_ns;
};

struct stage_storage {
    struct pt_split_time sync, slow_read;
    pt_u64 syncs, sync_ns, slow_reads, slow_read_ns, slow_read_bytes;
    struct {
        enum pt_whose whose;
        pt_i64 ns; /* of the union that it belongs to */
    } last_sync;
};

struct storage {
    struct pt_profile *profile;
    struct stage_storage *stages;
    PT_VEC(struct stored_file);
    struct pt_file_table files;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct storage *storage = state;
    storage->profile = profile;
    storage->files = (struct pt_file_table){.profile = profile, .most = MAX_FILES};
    storage->stages = pt_calloc(profile->stages.n, sizeof *storage->stages);
}

static struct stored_file *file_of(struct storage *storage, const struct pt_event *e, pt_u32 path, pt_u32 dir_path)
{
    const struct pt_file_row row = pt_file_row_or_other(&storage->files, e->process, path, dir_path);
    if (row.is_new)
        pt_vec_push(storage, ((struct stored_file){.path = row.name, .stage = row.stage}));
    return &storage->items[row.number];
}

/* Files without a path of their own share a row: that one of them is synced says nothing about the others. */
static void must_reach_storage(struct stored_file *file)
{
    file->must_reach_storage = file->path != NULL;
}

static void took_long(struct stored_file *file, const struct pt_event *e)
{
    if (e->duration_ns > file->longest_ns)
        file->longest_ns = e->duration_ns;
}

static void synced(struct storage *storage, const struct pt_event *e, pt_u32 path)
{
    struct stage_storage *stage = &storage->stages[pt_profile_stage_of(storage->profile, e->process)];
    struct stored_file *file = file_of(storage, e, path, 0);
    must_reach_storage(file);
    file->syncs++;
    file->sync_ns += (pt_u64)e->duration_ns;
    took_long(file, e);
    stage->syncs++;
    stage->sync_ns += (pt_u64)e->duration_ns;
    stage->last_sync.whose = pt_whose_event(storage->profile->facts->paths, e);
    const pt_i64 *total_ns = &stage->sync.of[stage->last_sync.whose].total_ns;
    const pt_i64 before_ns = *total_ns;
    pt_split_time_add(&stage->sync, storage->profile->facts->paths, e, e->start_ns);
    stage->last_sync.ns = *total_ns - before_ns;
}

/* A page on its way to the device makes the next write to it wait, too. What is written makes no row: pipes and files
 * that are never synced would take all of them. */
static void written(struct storage *storage, const struct pt_event *e, pt_u32 path)
{
    struct pt_file_row row;
    if (!pt_file_row_find(&storage->files, e->process, path, &row))
        return;
    struct stored_file *file = &storage->items[row.number];
    if (!file->must_reach_storage)
        return;
    pt_split_time_add(&storage->stages[file->stage].sync, storage->profile->facts->paths, e, e->start_ns);
    took_long(file, e);
}

static void opened(struct storage *storage, const struct pt_event *e)
{
    const struct pt_ev_io_open *open = pt_event_as(e, io_open);
    if (open->result >= 0 && open->flags & O_DSYNC)
        must_reach_storage(file_of(storage, e, open->path, open->dir_path));
}

/* While another thread had its CPU it did not wait for a disk. */
static void slow_read(struct storage *storage, const struct pt_event *whole, pt_u32 path, pt_i64 bytes)
{
    struct pt_event shorter = *whole;
    const struct pt_event *e = &shorter;
    shorter.duration_ns -= storage->profile->facts->call.preempted_ns;
    if (e->duration_ns < SLOW_READ_NS || bytes <= 0 ||
        (double)bytes * 1e9 > SLOW_READ_BYTES_PER_S * (double)e->duration_ns)
        return;
    const char *text = pt_process_string(e->process, path);
    if (!text || pt_channel_of_path(text) != PT_CHANNEL_FILE || !strncmp(text, "/dev/", 5) ||
        !strncmp(text, "/proc/", 6) || !strncmp(text, "/sys/", 5) || pt_code_is_program_file(text))
        return;
    struct stage_storage *stage = &storage->stages[pt_profile_stage_of(storage->profile, e->process)];
    struct stored_file *file = file_of(storage, e, path, 0);
    file->slow_reads++;
    file->slow_read_ns += (pt_u64)e->duration_ns;
    file->slow_read_bytes += (pt_u64)bytes;
    took_long(file, e);
    stage->slow_reads++;
    stage->slow_read_ns += (pt_u64)e->duration_ns;
    stage->slow_read_bytes += (pt_u64)bytes;
    pt_split_time_add(&stage->slow_read, storage->profile->facts->paths, e, e->start_ns);
}

static void event(void *state, const struct pt_event *e)
{
    struct storage *storage = state;
    /* All transfers have { i32 result, u32 path, ... } as io_read has. */
    const struct pt_ev_io_read *fields = (const struct pt_ev_io_read *)(const void *)e->payload;
    switch (e->desc->kind) {
    case PT_KIND_io_open:
        opened(storage, e);
        break;
    case PT_KIND_io_sync:
        synced(storage, e, pt_event_as(e, io_sync)->path);
        break;
    case PT_KIND_io_map_sync:
        synced(storage, e, 0);
        break;
    case PT_KIND_io_write:
    case PT_KIND_io_writev:
    case PT_KIND_io_pwrite:
    case PT_KIND_io_pwritev:
        written(storage, e, fields->path);
        break;
    case PT_KIND_io_read:
    case PT_KIND_io_readv:
    case PT_KIND_io_pread:
    case PT_KIND_io_preadv:
        slow_read(storage, e, fields->path, fields->result);
        break;
    case PT_KIND_stdio_read:
        slow_read(storage, e, pt_event_as(e, stdio_read)->path, pt_event_as(e, stdio_read)->bytes);
        break;
    default:
        break;
    }
}

/* ---- results ---- */

static pt_u64 time_of(const struct stored_file *file)
{
    return file->sync_ns + file->slow_read_ns;
}

static int by_time(const void *a, const void *b)
{
    const struct stored_file *x = a, *y = b;
    const pt_u64 xt = time_of(x), yt = time_of(y);
    if (xt != yt)
        return xt < yt ? 1 : -1;
    return strcmp(x->path ? x->path : "", y->path ? y->path : "");
}

struct file_row {
    const char *path;
    pt_u64 files, sync_calls, slow_reads, slow_read_bytes;
    double sync_s, slow_read_s, longest_s;
    struct pt_value python_place;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct file_row, path, TEXT, "Files (* = a number)"),
    PT_COLUMN(struct file_row, files, COUNT, "Files"),
    PT_COLUMN(struct file_row, sync_calls, COUNT, "Syncs"),
    PT_COLUMN(struct file_row, sync_s, SECONDS, "Sync time"),
    PT_COLUMN(struct file_row, slow_reads, COUNT, "Slow reads"),
    PT_COLUMN(struct file_row, slow_read_bytes, BYTES, "Read slowly"),
    PT_COLUMN(struct file_row, slow_read_s, SECONDS, "Slow read time"),
    PT_COLUMN(struct file_row, longest_s, SECONDS, "Longest"),
    PT_PYTHON_PLACE_COLUMN(struct file_row),
};
static const struct pt_table_kind by_file = {PT_VIEW_storage_waits, .most = MAX_ROWS, PT_COLUMNS(columns)};

/* Checkpoints and shards differ in their numbers only. A file alone keeps its name. */
struct groups {
    PT_VEC(struct stored_group {
        struct stored_file sum;
        const char *costs_most; /* of its files; NULL = none with a name */
        pt_u64 most_ns;         /* of that one */
        pt_u64 files;
        const char *first; /* of them, and which of its numbers others have not */
        pt_u64 apart;
    });
    struct pt_map by_path;
    struct pt_intern names;
};

static void add_to_group(struct groups *groups, const struct stored_file *file)
{
    PT_AUTO(pt_str_fini) struct pt_str name = {0}, shown = {0};
    const char *own = file->path ? file->path : "(other files)";
    pt_fold_numbers(&name, own);
    const char *path = pt_intern_text(&groups->names, pt_str_text(&name));
    pt_u64 *slot = pt_map_at(&groups->by_path, (uintptr_t)path);
    if (!*slot) {
        pt_vec_push(groups,
                    ((struct stored_group){
                        .sum = *file, .costs_most = file->path, .most_ns = time_of(file), .files = 1, .first = own}));
        *slot = groups->n;
        return;
    }
    struct stored_group *group = &groups->items[*slot - 1];
    group->files++;
    group->costs_most = time_of(file) > group->most_ns ? file->path : group->costs_most;
    group->most_ns = time_of(file) > group->most_ns ? time_of(file) : group->most_ns;
    group->apart |= pt_numbers_apart(group->first, own);
    pt_fold_some_numbers(&shown, group->first, group->apart);
    group->sum.path = pt_intern_text(&groups->names, pt_str_text(&shown));
    group->sum.syncs += file->syncs;
    group->sum.sync_ns += file->sync_ns;
    group->sum.slow_reads += file->slow_reads;
    group->sum.slow_read_ns += file->slow_read_ns;
    group->sum.slow_read_bytes += file->slow_read_bytes;
    group->sum.longest_ns = file->longest_ns > group->sum.longest_ns ? file->longest_ns : group->sum.longest_ns;
}

static void add_row(struct pt_profile *profile, pt_u32 stage, struct pt_rows *rows, const struct stored_group *group)
{
    const struct stored_file *sum = &group->sum;
    pt_rows_add(rows, &(struct file_row){
                          .path = sum->path ? pt_metrics_text(rows->metrics, sum->path) : "(other files)",
                          .files = group->files,
                          .sync_calls = sum->syncs,
                          .sync_s = (double)sum->sync_ns / 1e9,
                          .slow_reads = sum->slow_reads,
                          .slow_read_bytes = sum->slow_read_bytes,
                          .slow_read_s = (double)sum->slow_read_ns / 1e9,
                          .longest_s = (double)sum->longest_ns / 1e9,
                          .python_place = pt_python_place_of(&profile->facts->places, profile, PT_PLACE_OF_FILE, stage,
                                                             (uintptr_t)group->costs_most),
                      });
}

static void table_of_files(const struct storage *storage, pt_u32 stage)
{
    const struct stage_storage *sum = &storage->stages[stage];
    struct pt_rows rows = pt_rows(&storage->profile->metrics, pt_scope_stage(stage), &by_file);
    struct groups groups = {0};
    rows.without = pt_without_python_place(&storage->profile->facts->places);
    if (sum->sync_ns + sum->slow_read_ns < LEAST_SHOWN_NS)
        return;
    for (size_t i = 0; i < storage->n; i++)
        if (storage->items[i].stage == stage && storage->items[i].syncs + storage->items[i].slow_reads)
            add_to_group(&groups, &storage->items[i]);
    if (groups.n)
        qsort(groups.items, groups.n, sizeof *groups.items, by_time); /* the sum comes first in a group */
    for (size_t i = 0; i < groups.n; i++)
        add_row(storage->profile, stage, &rows, &groups.items[i]);
    free(groups.items);
    pt_map_fini(&groups.by_path);
    pt_intern_fini(&groups.names);
}

/* Who syncs once at the end waits as long as the last one took: a database that was loaded in one transaction was told
 * to sync less. */
static struct pt_value avoidable_s(const struct storage *storage, pt_u32 stage)
{
    struct stage_storage rest = storage->stages[stage];
    rest.sync.of[rest.last_sync.whose].total_ns -= rest.last_sync.ns;
    return pt_split_time_cost(&rest.sync, storage->profile, stage);
}

static void set_metrics(const struct storage *storage, pt_u32 stage)
{
    struct pt_metrics *metrics = &storage->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct stage_storage *s = &storage->stages[stage];
    const double slow_s = (double)s->slow_read_ns / 1e9;
    pt_metrics_set(metrics, scope, "storage.sync.calls", pt_integer(s->syncs));
    pt_metrics_set(metrics, scope, "storage.sync.total_s", pt_seconds((pt_i64)s->sync_ns));
    pt_metrics_set(metrics, scope, "storage.sync.mean_s",
                   s->syncs ? pt_real((double)s->sync_ns / 1e9 / (double)s->syncs) : pt_unknown("no syncs"));
    pt_metrics_set(metrics, scope, "storage.sync.cost_s", pt_split_time_cost(&s->sync, storage->profile, stage));
    pt_metrics_set(metrics, scope, "storage.sync.avoidable_s", avoidable_s(storage, stage));
    pt_metrics_set(metrics, scope, "storage.slow_read.calls", pt_integer(s->slow_reads));
    pt_metrics_set(metrics, scope, "storage.slow_read.bytes", pt_integer(s->slow_read_bytes));
    pt_metrics_set(metrics, scope, "storage.slow_read.total_s", pt_real(slow_s));
    pt_metrics_set(metrics, scope, "storage.slow_read.rate.bytes_per_s",
                   slow_s > 0 ? pt_real((double)s->slow_read_bytes / slow_s) : pt_unknown("no slow reads"));
    pt_metrics_set(metrics, scope, "storage.slow_read.mean_s",
                   s->slow_reads ? pt_real(slow_s / (double)s->slow_reads) : pt_unknown("no slow reads"));
    pt_metrics_set(metrics, scope, "storage.slow_read.cost_s",
                   pt_split_time_cost(&s->slow_read, storage->profile, stage));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct storage *storage = state;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        set_metrics(storage, stage);
        table_of_files(storage, stage);
    }
    free(storage->items);
    free(storage->stages);
    pt_file_table_fini(&storage->files);
}

const struct pt_analysis pt_analysis_storage = {
    .name = "storage",
    .summary = "waits for storage: syncs, and reads that the page cache did not serve, by file",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO,
    .state_size = sizeof(struct storage),
    .begin = begin,
    .event = event,
    .asks_facts = true,
    .finish = finish,
};
