/* SPDX-License-Identifier: MIT
 *
 * The files that a stage maps: what its page faults may be about.
 *
 * Threads: one. State: a sum per mapped file, at most MAX_FILES. Never: takes shared memory for a file.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/code_kind.h"
#include "facts/wait_kind.h"
#include "util/hash.h"

enum { MAX_FILES = 4096, MAX_ROWS = 50 };

struct mapped_file {
    const char *path;
    pt_u32 stage;
    bool is_program;
    pt_u64 maps, bytes;
    pt_u64 longest_bytes; /* of one mapping */
};

struct mapped_files {
    struct pt_profile *profile;
    struct pt_intern paths;
    struct pt_map by_file;
    PT_VEC(struct mapped_file);
};

static void begin(void *state, struct pt_profile *profile)
{
    ((struct mapped_files *)state)->profile = profile;
}

static bool wants(const void *state, pt_u32 kind)
{
    (void)state;
    return kind == PT_KIND_io_map;
}

static void event(void *state, const struct pt_event *e)
{
    struct mapped_files *files = state;
    if (e->result < 0)
        return;
    const struct pt_ev_io_map *call = pt_event_as(e, io_map);
    const char *path = call->path ? pt_process_string(e->process, call->path) : NULL;
    /* Memory that processes share is no file on a disk. */
    if (!path || pt_channel_of_path(path) != PT_CHANNEL_FILE || !strncmp(path, "/dev/", 5))
        return;
    const pt_u32 stage = pt_profile_stage_of(files->profile, e->process);
    const bool is_program = pt_code_is_program_file(path), is_full = files->n >= MAX_FILES;
    const char *known = is_full ? pt_intern_known(&files->paths, path) : pt_intern_text(&files->paths, path);
    if (is_full && !pt_map_find(&files->by_file, pt_hash_pair((uintptr_t)known, stage)))
        known = pt_intern_text(&files->paths, is_program ? "(other libraries)" : "(other files)");
    pt_u64 *slot = pt_map_at(&files->by_file, pt_hash_pair((uintptr_t)known, stage));
    if (!*slot) {
        pt_vec_push(files, ((struct mapped_file){.path = known, .stage = stage, .is_program = is_program}));
        *slot = files->n;
    }
    struct mapped_file *file = &files->items[*slot - 1];
    file->maps++;
    file->bytes += call->length_bytes;
    if (call->length_bytes > file->longest_bytes)
        file->longest_bytes = call->length_bytes;
}

static int by_bytes(const void *a, const void *b)
{
    const struct mapped_file *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->path, y->path);
}

struct file_row {
    const char *path;
    pt_u64 maps, bytes;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct file_row, path, TEXT, "File"),
    PT_COLUMN(struct file_row, maps, COUNT, "Mapped"),
    PT_COLUMN(struct file_row, bytes, BYTES, "Bytes"),
};
static const struct pt_table_kind by_file = {PT_VIEW_mapped_files, .most = MAX_ROWS, PT_COLUMNS(columns)};

static void table_of_files(const struct mapped_files *files, pt_u32 stage)
{
    struct pt_metrics *metrics = &files->profile->metrics;
    struct pt_rows rows = pt_rows(metrics, pt_scope_stage(stage), &by_file);
    pt_u64 data_bytes = 0, distinct_bytes = 0;
    for (size_t i = 0; i < files->n; i++) {
        const struct mapped_file *file = &files->items[i];
        data_bytes += file->stage == stage && !file->is_program ? file->bytes : 0;
        distinct_bytes += file->stage == stage && !file->is_program ? file->longest_bytes : 0;
        if (file->stage == stage && pt_rows_have_room(&rows))
            pt_rows_add(&rows, &(struct file_row){
                                   .path = pt_metrics_text(metrics, file->path),
                                   .maps = file->maps,
                                   .bytes = file->bytes,
                               });
    }
    pt_metrics_set(metrics, pt_scope_stage(stage), "io.mapped_data.bytes", pt_integer(data_bytes));
    pt_metrics_set(metrics, pt_scope_stage(stage), "io.mapped_data.distinct.bytes", pt_integer(distinct_bytes));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct mapped_files *files = state;
    if (files->n)
        qsort(files->items, files->n, sizeof *files->items, by_bytes);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        table_of_files(files, stage);
    free(files->items);
    pt_map_fini(&files->by_file);
    pt_intern_fini(&files->paths);
}

const struct pt_analysis pt_analysis_mapped_files = {
    .name = "mapped_files",
    .summary = "the files that a stage maps",
    .categories = PT_CATEGORY_IO,
    .state_size = sizeof(struct mapped_files),
    .begin = begin,
    .wants = wants,
    .event = event,
    .finish = finish,
};
