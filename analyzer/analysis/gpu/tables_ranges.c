/* SPDX-License-Identifier: MIT
 *
 * Table of what GPUs did for the program's own ranges. Threads: one. Never: takes work of a range that overlaps others
 * for that one's alone.
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

/* Whether a range of the same name lies between a node and one above it: a range within one of its own name counts
 * once. */
static bool is_inner(const struct gpu *gpu, size_t node, size_t above)
{
    const char *name = gpu->nodes.items[above].name;
    for (size_t at = node; at != above; at = gpu->nodes.items[at].parent)
        if (gpu->nodes.items[at].name == name)
            return true;
    return false;
}

/* The tree of ranges, by name; those without work are left out. */
static size_t sum_up(struct gpu *gpu, pt_u32 stage, struct range_sum *sums)
{
    struct pt_map by_name = {0};
    size_t n = 0;
    for (size_t i = 1; i < gpu->nodes.n; i++) {
        const struct gpu_node *node = &gpu->nodes.items[i];
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

static size_t add_overlapping(struct gpu *gpu, pt_u32 stage, struct range_sum *sums)
{
    size_t n_all, n = 0;
    const struct gpu_overlap_sum *all = pt_gpu_overlaps_sums(gpu, &n_all);
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

static void add_row(struct pt_table *table, struct pt_metrics *metrics, const struct range_sum *sum)
{
    const struct pt_value unknown = pt_unknown("it ended on another thread than it began on");
    struct pt_value *row = pt_table_add_row(table);
    row[0] = pt_text(pt_metrics_text(metrics, sum->name));
    row[1] = pt_seconds(sum->total_ns);
    row[2] = sum->overlaps ? pt_unknown("it may overlap other ranges") : pt_seconds(sum->self_ns);
    row[3] = sum->overlaps ? pt_unknown("it may overlap other ranges") : pt_seconds(sum->others_ns);
    row[4] = pt_integer(sum->activities);
    row[5] = pt_integer(sum->calls);
    row[6] = pt_bool(sum->overlaps);
    for (int i = 1; i <= 5 && sum->is_elsewhere; i++)
        row[i] = unknown;
}

void pt_gpu_range_tables(struct gpu *gpu, pt_u32 stage)
{
    static const struct pt_column columns[] = {
        {"name", "Range", PT_SHOW_TEXT},
        {"gpu_s", "GPU time", PT_SHOW_SECONDS},
        {"gpu_self_s", "Of its own", PT_SHOW_SECONDS},
        {"by_others_s", "By other threads", PT_SHOW_SECONDS},
        {"activities", "Pieces of work", PT_SHOW_COUNT},
        {"calls", "Ranges", PT_SHOW_COUNT},
        {"overlapping", "May overlap", PT_SHOW_BOOL},
    };
    size_t n_overlapping;
    pt_gpu_overlaps_sums(gpu, &n_overlapping);
    struct range_sum *sums = pt_calloc(gpu->nodes.n + n_overlapping, sizeof *sums);
    size_t n = sum_up(gpu, stage, sums);
    n += add_overlapping(gpu, stage, sums + n);
    struct pt_table *table = pt_metrics_table(&gpu->profile->metrics, pt_scope_stage(stage), "gpu.ranges",
                                              "GPU time of ranges", columns, sizeof columns / sizeof *columns);
    qsort(sums, n, sizeof *sums, by_range_time);
    for (size_t i = 0; i < n && i < MAX_RANGES; i++)
        add_row(table, &gpu->profile->metrics, &sums[i]);
    table->rows_left_out = n > MAX_RANGES ? n - MAX_RANGES : 0;
    free(sums);
}
