/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of path groups: files whose names differ in their numbers only are one. Threads: one. Never: makes a
 * group of one file, which is in the table of files already.
 */
#include "path_groups.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/text/fold.h"

enum { MAX_ROWS = 100, MAX_GROUPS = 2000 };

struct group {
    const char *path;
    const char *first; /* of its files, and which of its numbers others have not */
    pt_u64 apart;
    const struct pt_histogram *transfers; /* NULL = there were too many groups */
    const char *one;                      /* of its files */
    pt_u64 files, opens, reads, read_bytes, writes, written_bytes, total_ns, main_ns, loading_ns;
    pt_u64 again_files, again_bytes, again_of_bytes, again_opens, again_reads;
};

struct groups {
    PT_VEC(struct group);
    struct pt_map by_path;
    struct pt_intern paths;
};

pt_u32 pt_file_groups_of(struct pt_file_groups *groups, pt_u32 stage, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str folded = {0};
    pt_fold_numbers(&folded, path);
    const char *name = pt_intern_text(&groups->paths, pt_str_text(&folded));
    const pt_u64 key = pt_hash_pair((uintptr_t)name, stage);
    if (groups->n >= MAX_GROUPS && !pt_map_find(&groups->by_path, key))
        return 0;
    pt_u64 *slot = pt_map_at(&groups->by_path, key);
    if (!*slot) {
        pt_vec_push(groups, pt_calloc(1, sizeof **groups->items));
        *slot = groups->n;
    }
    return (pt_u32)*slot;
}

void pt_file_groups_fini(struct pt_file_groups *groups)
{
    for (size_t i = 0; i < groups->n; i++)
        free(groups->items[i]);
    free(groups->items);
    pt_map_fini(&groups->by_path);
    pt_intern_fini(&groups->paths);
}

/* ---- results ---- */

static void add_file(struct groups *groups, const struct pt_file_groups *all, const struct pt_file_use *f)
{
    PT_AUTO(pt_str_fini) struct pt_str folded = {0};
    pt_fold_numbers(&folded, f->path);
    const char *path = pt_intern_text(&groups->paths, pt_str_text(&folded));
    pt_u64 *slot = pt_map_at(&groups->by_path, (uintptr_t)path);
    if (!*slot) {
        pt_vec_push(groups, ((struct group){.path = path, .first = f->path, .one = f->path}));
        *slot = groups->n;
    }
    struct group *group = &groups->items[*slot - 1];
    group->files++;
    group->apart |= pt_numbers_apart(group->first, f->path);
    group->transfers = f->group ? all->items[f->group - 1] : NULL;
    group->opens += f->fd.opens + f->stdio.opens;
    group->reads += f->fd.reads + f->stdio.reads;
    group->read_bytes += f->fd.read_bytes + f->stdio.read_bytes;
    group->writes += f->fd.writes + f->stdio.writes;
    group->written_bytes += f->fd.write_bytes + f->stdio.write_bytes;
    group->total_ns += pt_file_total_ns(f);
    group->main_ns += f->main_ns;
    group->loading_ns += f->loading_ns;
    const pt_u64 again_bytes = pt_file_wasted_bytes(f);
    if (!again_bytes)
        return;
    group->one = group->again_files++ ? group->one : f->path;
    group->again_bytes += again_bytes;
    group->again_of_bytes += f->fd.read_bytes + f->stdio.read_bytes;
    group->again_opens += f->fd.opens + f->stdio.opens;
    group->again_reads += f->fd.reads + f->stdio.reads;
}

/* "/data/v2/images-*.jpg": a number that all of them have is no reason to hide it. */
static const char *name_of(struct pt_metrics *metrics, const struct group *group)
{
    PT_AUTO(pt_str_fini) struct pt_str name = {0};
    pt_fold_some_numbers(&name, group->first, group->apart);
    return pt_metrics_text(metrics, pt_str_text(&name));
}

static int by_time(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->path, y->path);
}

struct group_row {
    const char *path_group;
    pt_u64 files, opens, reads, read_bytes, writes, written_bytes;
    double total_s;
    struct pt_value p50_s, p95_s, p99_s; /* of one read or write */
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct group_row, path_group, TEXT, "Files (* = a number)"),
    PT_COLUMN(struct group_row, files, COUNT, "Files"),
    PT_COLUMN(struct group_row, total_s, SECONDS, "Time"),
    PT_COLUMN(struct group_row, opens, COUNT, "Opens"),
    PT_COLUMN(struct group_row, reads, COUNT, "Reads"),
    PT_COLUMN(struct group_row, read_bytes, BYTES, "Read"),
    PT_COLUMN(struct group_row, writes, COUNT, "Writes"),
    PT_COLUMN(struct group_row, written_bytes, BYTES, "Written"),
    PT_COLUMN(struct group_row, p50_s, SECONDS, "p50"),
    PT_COLUMN(struct group_row, p95_s, SECONDS, "p95"),
    PT_COLUMN(struct group_row, p99_s, SECONDS, "p99"),
};
static const struct pt_table_kind by_group = {PT_VIEW_file_groups, .most = MAX_ROWS, PT_COLUMNS(columns)};

static struct pt_value quantile_of(const struct group *group, double quantile)
{
    if (!group->transfers)
        return pt_unknown("too many groups of files");
    if (!group->transfers->count)
        return pt_unknown("nothing was read or written");
    return pt_seconds((pt_i64)pt_histogram_quantile(group->transfers, quantile));
}

static void add_row(struct pt_rows *rows, const struct group *group)
{
    if (!pt_rows_have_room(rows))
        return;
    pt_rows_add(rows, &(struct group_row){
                          .path_group = name_of(rows->metrics, group),
                          .files = group->files,
                          .total_s = (double)group->total_ns / 1e9,
                          .opens = group->opens,
                          .reads = group->reads,
                          .read_bytes = group->read_bytes,
                          .writes = group->writes,
                          .written_bytes = group->written_bytes,
                          .p50_s = quantile_of(group, 0.5),
                          .p95_s = quantile_of(group, 0.95),
                          .p99_s = quantile_of(group, 0.99),
                      });
}

struct again_row {
    const char *path_group;
    pt_u64 files, opens, reads, read_bytes, read_again_bytes;
};

static const struct pt_column again_columns[] = {
    PT_COLUMN(struct again_row, path_group, TEXT, "Files (* = a number)"),
    PT_COLUMN(struct again_row, files, COUNT, "Files"),
    PT_COLUMN(struct again_row, read_again_bytes, BYTES, "Read again"),
    PT_COLUMN(struct again_row, read_bytes, BYTES, "Read"),
    PT_COLUMN(struct again_row, opens, COUNT, "Opens"),
    PT_COLUMN(struct again_row, reads, COUNT, "Reads"),
};
static const struct pt_table_kind by_bytes_again = {PT_VIEW_read_again, .most = MAX_ROWS, PT_COLUMNS(again_columns)};

static int by_bytes_read_again(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->again_bytes != y->again_bytes)
        return x->again_bytes < y->again_bytes ? 1 : -1;
    return strcmp(x->path, y->path);
}

static void table_of_read_again(struct pt_metrics *metrics, struct pt_scope scope, struct groups *groups)
{
    struct pt_rows rows = pt_rows(metrics, scope, &by_bytes_again);
    if (groups->n)
        qsort(groups->items, groups->n, sizeof *groups->items, by_bytes_read_again);
    for (size_t i = 0; i < groups->n && groups->items[i].again_bytes; i++) {
        const struct group *group = &groups->items[i];
        if (!pt_rows_have_room(&rows))
            continue;
        pt_rows_add(&rows, &(struct again_row){
                               .path_group = group->again_files > 1 ? name_of(metrics, group)
                                                                    : pt_metrics_text(metrics, group->one),
                               .files = group->again_files,
                               .opens = group->again_opens,
                               .reads = group->again_reads,
                               .read_bytes = group->again_of_bytes,
                               .read_again_bytes = group->again_bytes,
                           });
    }
}

/* Of files that are read: what a program is made of does not count, nor does what it only writes, as checkpoints. */
static bool is_data(const struct group *group)
{
    static const char *const code[] = {".py", ".so", "/lib/", "/usr/", "/proc/", "/sys/", "/dev/"};
    bool is_data = group->files >= 2 && group->reads > 0;
    for (size_t i = 0; is_data && i < sizeof code / sizeof *code; i++)
        is_data = !strstr(group->path, code[i]);
    return is_data;
}

static void set_data_s(struct pt_metrics *metrics, struct pt_scope scope, const struct groups *groups)
{
    pt_u64 all_ns = 0, main_ns = 0, loading_ns = 0;
    for (size_t i = 0; i < groups->n; i++) {
        const struct group *group = &groups->items[i];
        all_ns += is_data(group) ? group->total_ns : 0;
        main_ns += is_data(group) ? group->main_ns : 0;
        loading_ns += is_data(group) ? group->loading_ns : 0;
    }
    pt_metrics_set(metrics, scope, "io.groups.data_s", pt_seconds((pt_i64)all_ns));
    pt_metrics_set(metrics, scope, "io.groups.data_in_main_s", pt_seconds((pt_i64)main_ns));
    pt_metrics_set(metrics, scope, "io.groups.data_loaded_in_main_s", pt_seconds((pt_i64)loading_ns));
}

void pt_file_groups_table(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_file_groups *all,
                          const struct pt_file_use *files, size_t n)
{
    struct groups groups = {0};
    struct pt_rows rows = pt_rows(metrics, scope, &by_group);
    for (size_t i = 0; i < n; i++)
        if (files[i].path && !files[i].is_unseekable && !files[i].is_program)
            add_file(&groups, all, &files[i]);
    if (groups.n)
        qsort(groups.items, groups.n, sizeof *groups.items, by_time);
    for (size_t i = 0; i < groups.n; i++)
        if (groups.items[i].files >= 2)
            add_row(&rows, &groups.items[i]);
    set_data_s(metrics, scope, &groups);
    table_of_read_again(metrics, scope, &groups);
    free(groups.items);
    pt_map_fini(&groups.by_path);
    pt_intern_fini(&groups.paths);
}
