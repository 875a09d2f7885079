/* SPDX-License-Identifier: MIT
 *
 * Owns: the table of path groups: files whose names differ in their numbers only are one. Threads: one. Never: makes a
 * group of one file: the table of files has it.
 */
#include <stdlib.h>
#include <string.h>

#include "../util/auto.h"
#include "../util/str.h"
#include "file_results.h"

enum { MAX_ROWS = 100 };

struct group {
    const char *path;
    pt_u64 files, opens, reads, read_bytes, writes, written_bytes, total_ns;
};

struct groups {
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

static void add_file(struct groups *groups, const struct pt_file_use *f)
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
};

static void add_row(struct pt_metrics *metrics, struct pt_table *table, const struct group *group)
{
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(pt_metrics_text(metrics, group->path));
    row[1] = pt_integer(group->files);
    row[2] = pt_seconds((pt_i64)group->total_ns);
    row[3] = pt_integer(group->opens);
    row[4] = pt_integer(group->reads);
    row[5] = pt_integer(group->read_bytes);
    row[6] = pt_integer(group->writes);
    row[7] = pt_integer(group->written_bytes);
}

void pt_file_groups(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_file_use *files, size_t n)
{
    struct groups groups = {0};
    struct pt_table *table = NULL;
    for (size_t i = 0; i < n; i++)
        if (files[i].path && !files[i].is_stream)
            add_file(&groups, &files[i]);
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
