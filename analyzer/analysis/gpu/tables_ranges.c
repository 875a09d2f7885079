/* SPDX-License-Identifier: MIT
 *
 * Table of the GPU work of the program's own ranges. Threads: one. Never: adds up ranges that overlap.
 */
#include "tables_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "overlaps.h"

enum { MAX_RANGES = 100 };

struct range_sum {
    const char *name;
    pt_i64 self_ns, total_ns, others_ns;
    pt_u64 calls, activities;
    bool overlaps, is_elsewhere;
};

static int by_range_time(const void *a, const void *b)
{
    const struct range_sum *x = a, *y = b;
    const pt_i64 x_ns = x->total_ns + x->others_ns, y_ns = y->total_ns + y->others_ns;
    if (x_ns != y_ns)
        return x_ns < y_ns ? 1 : -1;
    const int names = strcmp(x->name, y->name);
    return names ? names : x->overlaps - y->overlaps;
}

/* Whether the node lies inside of a range with the same name: such a range counts once. */
static bool is_inner(const struct pt_gpu *gpu, size_t node, size_t above)
{
    const char *name = gpu->nodes.items[above].name;
    for (size_t at = node; at != above; at = gpu->nodes.items[at].parent)
        if (gpu->nodes.items[at].name == name)
            return true;
    return false;
}

/* The tree of ranges, by name; those without work are left out. */
static size_t sum_up(struct pt_gpu *gpu, pt_u32 stage, struct range_sum *sums)
{
    struct pt_map by_name = {0};
    size_t n = 0;
    for (size_t i = 1; i < gpu->nodes.n; i++) {
        const struct pt_gpu_node *node = &gpu->nodes.items[i];
        for (size_t at = i; at && node->stage == stage && (node->activities || node->others_ns);
             at = gpu->nodes.items[at].parent) {
            const char *name = gpu->nodes.items[at].name;
            pt_u64 *slot = pt_map_at(&by_name, (uintptr_t)name);
            if (!*slot) {
                sums[n] = (struct range_sum){.name = name};
                *slot = ++n;
            }
            struct range_sum *sum = &sums[*slot - 1];
            sum->self_ns += at == i ? node->gpu_ns : 0;
            if (is_inner(gpu, i, at))
                continue;
            sum->total_ns += node->gpu_ns;
            sum->others_ns += node->others_ns;
            sum->activities += node->activities;
        }
    }
    for (size_t i = 1; i < gpu->nodes.n; i++) {
        const pt_u64 *slot = pt_map_find(&by_name, (uintptr_t)gpu->nodes.items[i].name);
        if (slot && gpu->nodes.items[i].stage == stage)
            sums[*slot - 1].calls += gpu->nodes.items[i].calls;
    }
    pt_map_fini(&by_name);
    return n;
}

static size_t add_overlapping(struct pt_gpu *gpu, pt_u32 stage, struct range_sum *sums)
{
    size_t n_all, n = 0;
    const struct pt_gpu_overlap_sum *all = pt_gpu_overlaps_sums(gpu, &n_all);
    for (size_t i = 0; i < n_all; i++)
        if (all[i].stage == stage && (all[i].activities || (!all[i].calls && all[i].elsewhere)))
            sums[n++] = (struct range_sum){.name = all[i].name,
                                           .total_ns = all[i].gpu_ns,
                                           .calls = all[i].calls,
                                           .activities = all[i].activities,
                                           .overlaps = true,
                                           .is_elsewhere = !all[i].calls};
    return n;
}

struct range_row {
    const char *name;
    struct pt_value gpu_s, gpu_self_s, by_others_s, activities, calls;
    bool overlapping;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct range_row, name, TEXT, "Range"),
    PT_COLUMN(struct range_row, gpu_s, SECONDS, "GPU time"),
    PT_COLUMN(struct range_row, gpu_self_s, SECONDS, "Of its own"),
    PT_COLUMN(struct range_row, by_others_s, SECONDS, "By other threads"),
    PT_COLUMN(struct range_row, activities, COUNT, "Pieces of work"),
    PT_COLUMN(struct range_row, calls, COUNT, "Ranges"),
    PT_COLUMN(struct range_row, overlapping, BOOL, "May overlap"),
};
static const struct pt_table_kind by_range = {PT_VIEW_gpu_ranges, .most = MAX_RANGES, PT_COLUMNS(columns)};

static void add_row(struct pt_rows *rows, const struct range_sum *sum)
{
    const struct pt_value elsewhere = pt_unknown("it ended on another thread than it began on");
    const struct pt_value shared = pt_unknown("it may overlap other ranges");
    struct range_row row = {
        .name = pt_metrics_text(rows->metrics, sum->name),
        .gpu_s = pt_seconds(sum->total_ns),
        .gpu_self_s = sum->overlaps ? shared : pt_seconds(sum->self_ns),
        .by_others_s = sum->overlaps ? shared : pt_seconds(sum->others_ns),
        .activities = pt_integer(sum->activities),
        .calls = pt_integer(sum->calls),
        .overlapping = sum->overlaps,
    };
    if (sum->is_elsewhere)
        row.gpu_s = row.gpu_self_s = row.by_others_s = row.activities = row.calls = elsewhere;
    pt_rows_add(rows, &row);
}

void pt_gpu_range_tables(struct pt_gpu *gpu, pt_u32 stage)
{
    size_t n_overlapping;
    pt_gpu_overlaps_sums(gpu, &n_overlapping);
    struct range_sum *sums = pt_calloc(gpu->nodes.n + n_overlapping, sizeof *sums);
    size_t n = sum_up(gpu, stage, sums);
    n += add_overlapping(gpu, stage, sums + n);
    struct pt_rows rows = pt_rows(&gpu->profile->metrics, pt_scope_stage(stage), &by_range);
    qsort(sums, n, sizeof *sums, by_range_time);
    for (size_t i = 0; i < n; i++)
        if (pt_rows_have_room(&rows))
            add_row(&rows, &sums[i]);
    free(sums);
}
