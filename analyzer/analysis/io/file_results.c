/* SPDX-License-Identifier: MIT
 *
 * Owns: metrics and table of files. Threads: one, after the last event. Never: counts it as waste when a stage reads
 * back what it wrote, once for each time.
 */
#include "file_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "again_places.h"
#include "facts/code_kind.h"
#include "facts/state.h"
#include "profile/layers_missing.h"

enum { MAX_ROWS = 100, MANY_SMALL_READS = 64 };

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
    pt_u64 read_bytes, read_again_bytes, read_again_files, distinct_bytes, small_reads, small_bytes;
    struct pt_split_sum read_again, small;
};

static double seconds_per_byte(const struct pt_layer_use *layer, pt_u64 open_ns)
{
    return layer->read_bytes ? (double)(layer->read_ns + layer->around_ns + open_ns) / 1e9 / (double)layer->read_bytes
                             : 0;
}

/* Which of its reads were the ones too many is not known: those of the critical path, then, as far as it has read. */
static void divide(struct pt_split_sum *sum, const struct pt_split_sum *reads, double s)
{
    for (int i = 0; i < PT_WHOSE__COUNT; i++) {
        const double own_ns = fmin(s * 1e9, reads->ns[i]);
        sum->ns[i] += own_ns;
        s -= own_ns / 1e9;
    }
}

/* What both layers have read, one of them need not have: the one to which it costs less. Returns the seconds. */
static double add_read_again(struct totals *sum, const struct pt_file_use *f)
{
    const pt_u64 wasted_bytes = pt_file_wasted_bytes(f);
    if (!wasted_bytes)
        return 0;
    const bool is_of_fd = f->fd.opens >= f->stdio.opens;
    const double fd_s = seconds_per_byte(&f->fd, is_of_fd ? f->open_ns : 0);
    const double stdio_s = seconds_per_byte(&f->stdio, is_of_fd ? 0 : f->open_ns);
    const double again_s = (double)pt_layer_read_again(&f->fd) * fd_s +
                           (double)pt_layer_read_again(&f->stdio) * stdio_s +
                           (double)pt_file_distinct_twice(f) * (fd_s < stdio_s ? fd_s : stdio_s);
    const double wasted_s = again_s * (double)wasted_bytes / (double)pt_file_read_again(f);
    sum->read_again_bytes += wasted_bytes;
    sum->read_again_files++;
    divide(&sum->read_again, &f->reads, wasted_s);
    return wasted_s;
}

static void add_file(struct totals *sum, struct pt_again_places *places, const struct pt_profile *profile,
                     const struct pt_file_use *f)
{
    pt_again_places_add(places, profile, f, add_read_again(sum, f));
    sum->distinct_bytes += pt_file_distinct(f);
    sum->read_bytes += f->is_unseekable ? 0 : f->fd.read_bytes + f->stdio.read_bytes;
    if (f->small_reads < MANY_SMALL_READS || f->is_unseekable)
        return;
    sum->small_reads += f->small_reads;
    sum->small_bytes += f->small_read_bytes;
    for (int i = 0; i < PT_WHOSE__COUNT; i++)
        sum->small.ns[i] += f->small.ns[i];
}

struct file_row {
    const char *path;
    struct pt_value python_place;
    double total_s;
    pt_u64 opens, reads, read_bytes, distinct_bytes, read_again_bytes, small_reads, writes, written_bytes;
    pt_u64 stdio_reads, stdio_read_bytes, stdio_writes, stdio_written_bytes, failed_opens;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct file_row, path, TEXT, "File"),
    PT_COLUMN(struct file_row, total_s, SECONDS, "Time"),
    PT_COLUMN(struct file_row, opens, COUNT, "Opens"),
    PT_COLUMN(struct file_row, reads, COUNT, "Reads"),
    PT_COLUMN(struct file_row, read_bytes, BYTES, "Read"),
    PT_COLUMN(struct file_row, distinct_bytes, BYTES, "Distinct"),
    PT_COLUMN(struct file_row, read_again_bytes, BYTES, "Read again"),
    PT_COLUMN(struct file_row, small_reads, COUNT, "Small reads"),
    PT_COLUMN(struct file_row, writes, COUNT, "Writes"),
    PT_COLUMN(struct file_row, written_bytes, BYTES, "Written"),
    PT_COLUMN(struct file_row, stdio_reads, COUNT, "stdio reads"),
    PT_COLUMN(struct file_row, stdio_read_bytes, BYTES, "stdio read"),
    PT_COLUMN(struct file_row, stdio_writes, COUNT, "stdio writes"),
    PT_COLUMN(struct file_row, stdio_written_bytes, BYTES, "stdio written"),
    PT_COLUMN(struct file_row, failed_opens, COUNT, "Failed opens"),
    PT_PYTHON_PLACE_COLUMN(struct file_row),
};
static const struct pt_table_kind by_file = {PT_VIEW_files, .most = MAX_ROWS, PT_COLUMNS(columns)};

static struct file_row row_of(const struct pt_file_use *f)
{
    return (struct file_row){
        .path = f->path ? f->path : "(other files)",
        .total_s = (double)pt_file_total_ns(f) / 1e9,
        .opens = f->fd.opens + f->stdio.opens,
        .reads = f->fd.reads,
        .read_bytes = f->fd.read_bytes,
        .distinct_bytes = pt_file_distinct(f),
        .read_again_bytes = pt_file_read_again(f),
        .small_reads = f->small_reads,
        .writes = f->fd.writes,
        .written_bytes = f->fd.write_bytes,
        .stdio_reads = f->stdio.reads,
        .stdio_read_bytes = f->stdio.read_bytes,
        .stdio_writes = f->stdio.writes,
        .stdio_written_bytes = f->stdio.write_bytes,
        .failed_opens = f->failed_opens,
    };
}

/* What programs read of themselves, in one row: it must not hide the data. Returns how long it took. */
static double add_programs(struct pt_table *table, struct pt_metrics *metrics, const struct pt_file_use *files,
                           size_t n)
{
    struct file_row sum = {0};
    pt_u64 n_files = 0;
    for (size_t i = 0; i < n; i++) {
        if (!files[i].is_program)
            continue;
        const struct file_row row = row_of(&files[i]);
        n_files++;
        sum.total_s += row.total_s;
        sum.opens += row.opens;
        sum.reads += row.reads;
        sum.read_bytes += row.read_bytes;
        sum.distinct_bytes += row.distinct_bytes;
        sum.read_again_bytes += row.read_again_bytes;
        sum.small_reads += row.small_reads;
        sum.writes += row.writes;
        sum.written_bytes += row.written_bytes;
        sum.stdio_reads += row.stdio_reads;
        sum.stdio_read_bytes += row.stdio_read_bytes;
        sum.stdio_writes += row.stdio_writes;
        sum.stdio_written_bytes += row.stdio_written_bytes;
        sum.failed_opens += row.failed_opens;
    }
    sum.path = pt_metrics_format(metrics, PT_PROGRAM_FILES " (%llu)", (unsigned long long)n_files);
    if (n_files && pt_table_has_room(table))
        pt_table_add(table, &sum);
    return sum.total_s;
}

/* Each once, but for those of programs; unknown where there are more files than rows. */
static struct pt_value count_opened(const struct pt_profile *profile, pt_u32 stage, const struct pt_file_use *files,
                                    size_t n)
{
    const char *why = pt_profile_why_not_recorded(profile, stage, 1 << PT_LAYER_IO | 1 << PT_LAYER_STDIO);
    pt_u64 opened = 0;
    if (why)
        return pt_unknown(why);
    for (size_t i = 0; i < n; i++) {
        if (!files[i].path)
            return pt_unknown("there were too many files to tell them apart");
        opened += !files[i].is_program && (files[i].fd.opens || files[i].stdio.opens);
    }
    return pt_integer(opened);
}

static void set_costs(struct pt_profile *profile, pt_u32 stage, const struct pt_stage_reads *reads,
                      const struct totals *sum)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    pt_metrics_set(metrics, scope, "io.read_again.bytes", pt_integer(sum->read_again_bytes));
    pt_metrics_set(metrics, scope, "io.read_again.files", pt_integer(sum->read_again_files));
    pt_metrics_set(metrics, scope, "io.read_again.cost_s",
                   pt_real(pt_split_time_part_s(&reads->all, &sum->read_again, profile, stage)));
    pt_metrics_set(metrics, scope, "io.read_small.calls", pt_integer(sum->small_reads));
    pt_metrics_set(metrics, scope, "io.read_small.bytes", pt_integer(sum->small_bytes));
    pt_metrics_set(metrics, scope, "io.read_small.cost_s",
                   pt_real(pt_split_time_part_s(&reads->small, &sum->small, profile, stage)));
}

/* `files`: all of them; of the stage they are from first to end. */
static struct totals finish_stage(const struct pt_file_groups *groups, const struct pt_file_use *files, size_t first,
                                  size_t end, pt_u32 stage, struct pt_profile *profile)
{
    struct pt_metrics *metrics = &profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_table *table = pt_metrics_add_table(metrics, scope, &by_file);
    const char *without = pt_without_python_place(&profile->facts->places);
    if (without)
        pt_table_drop_column(table, without);
    struct totals sum = {0};
    struct pt_again_places again = {0};
    double data_s = 0;
    for (size_t i = first; i < end; i++) {
        if (files[i].is_program)
            continue;
        data_s += (double)pt_file_total_ns(&files[i]) / 1e9;
        add_file(&sum, &again, profile, &files[i]);
        if (!pt_table_has_room(table))
            continue;
        struct file_row row = row_of(&files[i]);
        row.python_place =
            pt_python_place_of(&profile->facts->places, profile, PT_PLACE_OF_FILE, stage, (uintptr_t)files[i].path);
        pt_table_add(table, &row);
    }
    pt_again_places_finish(&again, profile, stage);
    const struct pt_file_use *own = end > first ? files + first : files; /* of none there is no first */
    const double programs_s = add_programs(table, metrics, own, end - first);
    pt_metrics_set(metrics, scope, "io.program_files.total_s", pt_real(programs_s));
    pt_metrics_set(metrics, scope, "io.data_files.total_s", pt_real(data_s));
    pt_metrics_set(metrics, scope, "io.data_files.read_bytes", pt_integer(sum.read_bytes));
    pt_file_groups_table(metrics, scope, groups, own, end - first);
    pt_metrics_set(metrics, scope, "io.files.opened", count_opened(profile, stage, own, end - first));
    pt_metrics_set(metrics, scope, "io.distinct.bytes", pt_integer(sum.distinct_bytes));
    return sum;
}

void pt_file_results(struct pt_profile *profile, const struct pt_file_groups *groups,
                     const struct pt_stage_reads *reads, struct pt_file_use *files, size_t n)
{
    size_t first = 0;
    if (n)
        qsort(files, n, sizeof *files, by_stage_time_path);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        size_t end = first;
        while (end < n && files[end].stage == stage)
            end++;
        const struct totals sum = finish_stage(groups, files, first, end, stage, profile);
        set_costs(profile, stage, &reads[stage], &sum);
        first = end;
    }
}
