/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of path groups: files whose names differ in their numbers only are one. Threads: one. Never: makes a
 * group of one file: the table of files has it.
 */
#include "path_groups.h"

#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/mem.h"
#include "util/str.h"

enum { MAX_ROWS = 100, MAX_GROUPS = 2000 };

struct group {
    const char *path;
    const struct pt_histogram *transfers; /* NULL = there were too many groups */
    pt_u64 files, opens, reads, read_bytes, writes, written_bytes, total_ns;
};

struct rows {
    PT_VEC(struct group);
    struct pt_map by_path;
    struct pt_intern paths;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "/data/images-000042.jpg" becomes "/data/images-*.jpg". */
static void fold(struct pt_str *out, const char *path)
{
    for (; *path; path++)
        if (!is_digit(*path))
            pt_str_char(out, *path);
        else if (!is_digit(path[1]))
            pt_str_char(out, '*');
}

pt_u32 pt_file_groups_of(struct pt_file_groups *groups, pt_u32 stage, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str folded = {0};
    fold(&folded, path);
    const char *name = pt_intern_text(&groups->paths, pt_str_text(&folded));
    const pt_u64 key = (pt_u64)stage << 48 ^ (uintptr_t)name;
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

static void add_file(struct rows *groups, const struct pt_file_groups *all, const struct pt_file_use *f)
{
    PT_AUTO(pt_str_fini) struct pt_str folded = {0};
    fold(&folded, f->path);
    const char *path = pt_intern_text(&groups->paths, pt_str_text(&folded));
    pt_u64 *slot = pt_map_at(&groups->by_path, (uintptr_t)path);
    if (!*slot) {
        pt_vec_push(groups, ((struct group){.path = path}));
        *slot = groups->n;
    }
    struct group *group = &groups->items[*slot - 1];
    group->files++;
    group->transfers = f->group ? all->items[f->group - 1] : NULL;
    group->opens += f->fd.opens + f->stdio.opens;
    group->reads += f->fd.reads + f->stdio.reads;
    group->read_bytes += f->fd.read_bytes + f->stdio.read_bytes;
    group->writes += f->fd.writes + f->stdio.writes;
    group->written_bytes += f->fd.write_bytes + f->stdio.write_bytes;
    group->total_ns += pt_file_total_ns(f);
}

static int by_time(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->path, y->path);
}

static const struct pt_column columns[] = {
    {"path_group", "Files (* = a number)", PT_SHOW_TEXT},
    {"files", "Files", PT_SHOW_COUNT},
    {"total_s", "Time", PT_SHOW_SECONDS},
    {"opens", "Opens", PT_SHOW_COUNT},
    {"reads", "Reads", PT_SHOW_COUNT},
    {"read_bytes", "Read", PT_SHOW_BYTES},
    {"writes", "Writes", PT_SHOW_COUNT},
    {"written_bytes", "Written", PT_SHOW_BYTES},
    {"p50_s", "p50", PT_SHOW_SECONDS},
    {"p95_s", "p95", PT_SHOW_SECONDS},
    {"p99_s", "p99", PT_SHOW_SECONDS},
};

static void add_row(struct pt_metrics *metrics, struct pt_table *table, const struct group *group)
{
    static const double quantiles[] = {0.5, 0.95, 0.99}; /* of one read or write */
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(pt_metrics_text(metrics, group->path));
    row[1] = pt_integer(group->files);
    row[2] = pt_seconds((pt_i64)group->total_ns);
    row[3] = pt_integer(group->opens);
    row[4] = pt_integer(group->reads);
    row[5] = pt_integer(group->read_bytes);
    row[6] = pt_integer(group->writes);
    row[7] = pt_integer(group->written_bytes);
    for (int i = 0; i < 3; i++)
        row[8 + i] = !group->transfers ? pt_unknown("too many groups of files")
                     : !group->transfers->count
                         ? pt_unknown("nothing was read or written")
                         : pt_seconds((pt_i64)pt_histogram_quantile(group->transfers, quantiles[i]));
}

void pt_file_groups_table(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_file_groups *all,
                          const struct pt_file_use *files, size_t n)
{
    struct rows groups = {0};
    struct pt_table *table = NULL;
    for (size_t i = 0; i < n; i++)
        if (files[i].path && !files[i].is_stream)
            add_file(&groups, all, &files[i]);
    if (groups.n)
        qsort(groups.items, groups.n, sizeof *groups.items, by_time);
    for (size_t i = 0; i < groups.n; i++) {
        if (groups.items[i].files < 2)
            continue;
        if (!table)
            table = pt_metrics_table(metrics, scope, "io.groups", "Files by path group", columns,
                                     sizeof columns / sizeof *columns);
        if (table->n_rows < MAX_ROWS)
            add_row(metrics, table, &groups.items[i]);
        else
            table->rows_left_out++;
    }
    free(groups.items);
    pt_map_fini(&groups.by_path);
    pt_intern_fini(&groups.paths);
}
