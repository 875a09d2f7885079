/* SPDX-License-Identifier: MIT
 *
 * Owns: metrics and table of files. Threads: one, after the last event. Never: counts as waste that a stage reads back
 * what it wrote.
 */
#include "file_results.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 100, MANY_SMALL_READS = 64 };

static pt_u64 read_again_bytes(const struct pt_layer_use *layer)
{
    const pt_u64 distinct = pt_coverage_bytes(&layer->coverage);
    return distinct && layer->read_bytes > distinct ? layer->read_bytes - distinct : 0;
}

static int by_stage_time_path(const void *a, const void *b)
{
    const struct pt_file_use *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    const pt_u64 xt = pt_file_total_ns(x), yt = pt_file_total_ns(y);
    if (xt != yt)
        return xt < yt ? 1 : -1;
    const pt_u64 xb = x->fd.read_bytes + x->fd.write_bytes, yb = y->fd.read_bytes + y->fd.write_bytes;
    if (xb != yb)
        return xb < yb ? 1 : -1;
    return strcmp(x->path ? x->path : "", y->path ? y->path : "");
}

struct totals {
    pt_u64 files, read_again_bytes, read_again_files, distinct_bytes, small_reads, small_bytes;
    double read_again_s, small_s;
};

static void add_layer(struct totals *sum, const struct pt_file_use *f, const struct pt_layer_use *layer, pt_u64 open_ns)
{
    const pt_u64 again = read_again_bytes(layer);
    sum->distinct_bytes += pt_coverage_bytes(&layer->coverage);
    /* What the stage itself writes must be read again: that is no waste. */
    if (!again || f->fd.writes || f->stdio.writes || f->is_stream)
        return;
    const double share = (double)again / (double)layer->read_bytes;
    sum->read_again_bytes += again;
    sum->read_again_files++;
    sum->read_again_s += share * (double)(layer->read_ns + layer->around_ns + open_ns) / 1e9;
}

static void add_file(struct totals *sum, const struct pt_file_use *f)
{
    sum->files++;
    add_layer(sum, f, &f->fd, f->fd.opens >= f->stdio.opens ? f->open_ns : 0);
    add_layer(sum, f, &f->stdio, f->fd.opens < f->stdio.opens ? f->open_ns : 0);
    if (f->small_reads < MANY_SMALL_READS || f->is_stream)
        return;
    sum->small_reads += f->small_reads;
    sum->small_bytes += f->small_read_bytes;
    sum->small_s += (double)(f->small_read_ns + f->small_around_ns) / 1e9;
}

static const struct pt_column columns[] = {
    {"path", "File", PT_SHOW_TEXT},
    {"total_s", "Time", PT_SHOW_SECONDS},
    {"opens", "Opens", PT_SHOW_COUNT},
    {"reads", "Reads", PT_SHOW_COUNT},
    {"read_bytes", "Read", PT_SHOW_BYTES},
    {"distinct_bytes", "Distinct", PT_SHOW_BYTES},
    {"read_again_bytes", "Read again", PT_SHOW_BYTES},
    {"small_reads", "Small reads", PT_SHOW_COUNT},
    {"writes", "Writes", PT_SHOW_COUNT},
    {"written_bytes", "Written", PT_SHOW_BYTES},
    {"stdio_reads", "stdio reads", PT_SHOW_COUNT},
    {"stdio_read_bytes", "stdio read", PT_SHOW_BYTES},
    {"stdio_writes", "stdio writes", PT_SHOW_COUNT},
    {"stdio_written_bytes", "stdio written", PT_SHOW_BYTES},
    {"failed_opens", "Failed opens", PT_SHOW_COUNT},
};

static void add_row(struct pt_table *table, const struct pt_file_use *f)
{
    struct pt_value *cells = pt_table_add_row(table);
    const pt_u64 numbers[] = {
        f->fd.opens + f->stdio.opens,
        f->fd.reads,
        f->fd.read_bytes,
        pt_coverage_bytes(&f->fd.coverage) + pt_coverage_bytes(&f->stdio.coverage),
        read_again_bytes(&f->fd) + read_again_bytes(&f->stdio),
        f->small_reads,
        f->fd.writes,
        f->fd.write_bytes,
        f->stdio.reads,
        f->stdio.read_bytes,
        f->stdio.writes,
        f->stdio.write_bytes,
        f->failed_opens,
    };
    cells[0] = pt_text(f->path ? f->path : "(other files)");
    cells[1] = pt_seconds((pt_i64)pt_file_total_ns(f));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cells[i + 2] = pt_integer(numbers[i]);
}

static void finish_stage(const struct pt_file_groups *groups, const struct pt_file_use *files, size_t first, size_t end,
                         pt_u32 stage, struct pt_metrics *metrics)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_table *table =
        pt_metrics_table(metrics, scope, "io.files", "Files", columns, sizeof columns / sizeof *columns);
    struct totals sum = {0};
    for (size_t i = first; i < end; i++) {
        add_file(&sum, &files[i]);
        if (i - first < MAX_ROWS)
            add_row(table, &files[i]);
        else
            table->rows_left_out++;
    }
    pt_file_groups_table(metrics, scope, groups, files + first, end - first);
    pt_metrics_set(metrics, scope, "io.files.count", pt_integer(sum.files));
    pt_metrics_set(metrics, scope, "io.distinct.bytes", pt_integer(sum.distinct_bytes));
    pt_metrics_set(metrics, scope, "io.read_again.bytes", pt_integer(sum.read_again_bytes));
    pt_metrics_set(metrics, scope, "io.read_again.files", pt_integer(sum.read_again_files));
    pt_metrics_set(metrics, scope, "io.read_again.cost_s", pt_real(sum.read_again_s));
    pt_metrics_set(metrics, scope, "io.read_small.calls", pt_integer(sum.small_reads));
    pt_metrics_set(metrics, scope, "io.read_small.bytes", pt_integer(sum.small_bytes));
    pt_metrics_set(metrics, scope, "io.read_small.cost_s", pt_real(sum.small_s));
}

void pt_file_results(struct pt_profile *profile, const struct pt_file_groups *groups, struct pt_file_use *files,
                     size_t n)
{
    size_t first = 0;
    if (n)
        qsort(files, n, sizeof *files, by_stage_time_path);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        size_t end = first;
        while (end < n && files[end].stage == stage)
            end++;
        finish_stage(groups, files, first, end, stage, &profile->metrics);
        first = end;
    }
}
