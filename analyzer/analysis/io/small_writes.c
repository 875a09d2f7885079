/* SPDX-License-Identifier: MIT
 *
 * Many small writes: each a system call, by the program itself or by a stdio stream without a buffer.
 *
 * Threads: one. State: one small struct per file and stage, at most MAX_FILES. Never: counts pipes between processes:
 * what passes there is messages.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/state.h"
#include "facts/wait_kind.h"
#include "facts/path/split_time.h"
#include "call_gaps.h"
#include "file_table.h"

enum { MAX_FILES = 20000, MAX_ROWS = 50, SMALL_BYTES = 1024 };

/* Longer than what an interpreter does between two writes. */
#define LONGEST_GAP_NS 5000

struct written_file {
    const char *path;
    pt_u32 stage;
    pt_u64 writes, write_bytes, write_ns, stdio_calls, unbuffered_calls, unbuffered_bytes, unbuffered_ns;
};

struct stage_writes {
    struct pt_split_time writes, unbuffered;
};

struct small_writes {
    struct pt_profile *profile;
    struct stage_writes *stages;
    PT_VEC(struct written_file);
    struct pt_file_table files;
    struct pt_gaps gaps;
};

static void begin(void *state, struct pt_profile *profile)
{
    struct small_writes *small = state;
    small->profile = profile;
    small->files = (struct pt_file_table){.profile = profile, .most = MAX_FILES};
    small->stages = pt_calloc(profile->stages.n, sizeof *small->stages);
}

static struct written_file *file_of(struct small_writes *small, const struct pt_event *e, pt_u32 path)
{
    const struct pt_file_row row = pt_file_row_or_other(&small->files, e->process, path, 0);
    if (row.is_new)
        pt_vec_push(small, ((struct written_file){.path = row.name, .stage = row.stage}));
    return &small->items[row.number];
}

static bool is_message(const struct pt_event *e, pt_u32 path)
{
    const bool is_output = e->tag == 1 || e->tag == 2;
    return !is_output && pt_channel_of_path(pt_process_string(e->process, path)) != PT_CHANNEL_FILE;
}

/* All writes have { i32 result, u32 path, ... } as io_write has. */
static void written(struct small_writes *small, const struct pt_event *e)
{
    const struct pt_ev_io_write *fields = (const struct pt_ev_io_write *)(const void *)e->payload;
    const bool counts = fields->result > 0 && fields->result < SMALL_BYTES && !is_message(e, fields->path);
    const pt_u64 gap_ns = pt_gap_of_interpreter(&small->gaps, e, counts, LONGEST_GAP_NS);
    if (!counts)
        return;
    struct written_file *file = file_of(small, e, fields->path);
    file->writes++;
    file->write_bytes += (pt_u64)fields->result;
    file->write_ns += (pt_u64)e->duration_ns + gap_ns;
    pt_split_time_add(&small->stages[file->stage].writes, small->profile->facts->paths, e,
                      e->start_ns - (pt_i64)gap_ns);
}

/* Reads and writes of stdio alike: { i64 bytes, u32 path, ... }. */
static void stdio_moved(struct small_writes *small, const struct pt_event *e)
{
    const struct pt_ev_stdio_write *fields = (const struct pt_ev_stdio_write *)(const void *)e->payload;
    if (fields->bytes <= 0 || fields->bytes >= SMALL_BYTES)
        return;
    struct written_file *file = file_of(small, e, fields->path);
    file->stdio_calls++;
    if (e->duration_ns < PT_COPIES_BELOW_NS)
        return;
    file->unbuffered_calls++;
    file->unbuffered_bytes += (pt_u64)fields->bytes;
    file->unbuffered_ns += (pt_u64)e->duration_ns;
    pt_split_time_add(&small->stages[file->stage].unbuffered, small->profile->facts->paths, e, e->start_ns);
}

static void event(void *state, const struct pt_event *e)
{
    switch (e->desc->kind) {
    case PT_KIND_io_write:
    case PT_KIND_io_writev:
    case PT_KIND_io_pwrite:
    case PT_KIND_io_pwritev:
        written(state, e);
        break;
    case PT_KIND_stdio_read:
    case PT_KIND_stdio_write:
        stdio_moved(state, e);
        break;
    default:
        break;
    }
}

/* ---- results ---- */

/* A buffer that runs full makes one call in many slow: that is no lack of a buffer. */
static bool is_unbuffered(const struct written_file *file)
{
    return file->unbuffered_calls * 2 > file->stdio_calls;
}

static int by_time(const void *a, const void *b)
{
    const struct written_file *x = a, *y = b;
    const pt_u64 xt = x->write_ns + x->unbuffered_ns, yt = y->write_ns + y->unbuffered_ns;
    if (xt != yt)
        return xt < yt ? 1 : -1;
    return strcmp(x->path ? x->path : "", y->path ? y->path : "");
}

struct file_row {
    const char *path;
    pt_u64 small_writes, small_write_bytes, unbuffered_calls;
    double small_write_s, unbuffered_s;
    struct pt_value python_place;
};

static const struct pt_column columns[] = {
    PT_COLUMN(struct file_row, path, TEXT, "File"),
    PT_COLUMN(struct file_row, small_writes, COUNT, "Small writes"),
    PT_COLUMN(struct file_row, small_write_bytes, BYTES, "Written so"),
    PT_COLUMN(struct file_row, small_write_s, SECONDS, "Time"),
    PT_COLUMN(struct file_row, unbuffered_calls, COUNT, "Unbuffered stdio"),
    PT_COLUMN(struct file_row, unbuffered_s, SECONDS, "Time of it"),
    PT_PYTHON_PLACE_COLUMN(struct file_row),
};
static const struct pt_table_kind by_file = {PT_VIEW_small_writes, .most = MAX_ROWS, PT_COLUMNS(columns)};

static struct file_row row_of(const struct written_file *file)
{
    return (struct file_row){
        .path = file->path ? file->path : "(unknown or other files)",
        .small_writes = file->writes,
        .small_write_bytes = file->write_bytes,
        .small_write_s = (double)file->write_ns / 1e9,
        .unbuffered_calls = is_unbuffered(file) ? file->unbuffered_calls : 0,
        .unbuffered_s = is_unbuffered(file) ? (double)file->unbuffered_ns / 1e9 : 0,
    };
}

static void set_metrics(const struct small_writes *small, pt_u32 stage, const struct written_file *sum)
{
    struct pt_metrics *metrics = &small->profile->metrics;
    const struct pt_scope scope = pt_scope_stage(stage);
    const struct stage_writes *s = &small->stages[stage];
    pt_metrics_set(metrics, scope, "io.write_small.calls", pt_integer(sum->writes));
    pt_metrics_set(metrics, scope, "io.write_small.bytes", pt_integer(sum->write_bytes));
    pt_metrics_set(metrics, scope, "io.write_small.cost_s", pt_split_time_cost(&s->writes, small->profile, stage));
    pt_metrics_set(metrics, scope, "stdio.unbuffered.calls", pt_integer(sum->unbuffered_calls));
    pt_metrics_set(metrics, scope, "stdio.unbuffered.bytes", pt_integer(sum->unbuffered_bytes));
    pt_metrics_set(metrics, scope, "stdio.unbuffered.mean_s",
                   sum->unbuffered_calls ? pt_real((double)sum->unbuffered_ns / 1e9 / (double)sum->unbuffered_calls)
                                         : pt_unknown("no such calls"));
    /* Of all that was made in stdio calls, only what streams without a buffer took. */
    const double cost_s = pt_value_number(pt_split_time_cost(&s->unbuffered, small->profile, stage));
    pt_metrics_set(metrics, scope, "stdio.unbuffered.cost_s", pt_real(fmin(cost_s, (double)sum->unbuffered_ns / 1e9)));
}

static void finish_stage(const struct small_writes *small, pt_u32 stage)
{
    struct pt_rows rows = pt_rows(&small->profile->metrics, pt_scope_stage(stage), &by_file);
    rows.without = pt_without_python_place(&small->profile->facts->places);
    struct written_file sum = {0};
    for (size_t i = 0; i < small->n; i++) {
        const struct written_file *file = &small->items[i];
        const bool unbuffered = is_unbuffered(file);
        if (file->stage != stage || !(file->writes + (unbuffered ? file->unbuffered_calls : 0)))
            continue;
        sum.writes += file->writes;
        sum.write_bytes += file->write_bytes;
        sum.unbuffered_calls += unbuffered ? file->unbuffered_calls : 0;
        sum.unbuffered_bytes += unbuffered ? file->unbuffered_bytes : 0;
        sum.unbuffered_ns += unbuffered ? file->unbuffered_ns : 0;
        struct file_row row = row_of(file);
        row.python_place = pt_python_place_of(&small->profile->facts->places, small->profile, PT_PLACE_OF_FILE, stage,
                                              (uintptr_t)file->path);
        if (file->writes + file->unbuffered_calls >= 100)
            pt_rows_add(&rows, &row);
    }
    set_metrics(small, stage, &sum);
}

static void finish(void *state, struct pt_profile *profile)
{
    struct small_writes *small = state;
    if (small->n)
        qsort(small->items, small->n, sizeof *small->items, by_time);
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++)
        finish_stage(small, stage);
    free(small->items);
    free(small->stages);
    pt_file_table_fini(&small->files);
    pt_gaps_fini(&small->gaps);
}

const struct pt_analysis pt_analysis_small_writes = {
    .name = "small_writes",
    .summary = "writes of a few bytes, and stdio streams without a buffer, by file",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO,
    .state_size = sizeof(struct small_writes),
    .begin = begin,
    .event = event,
    .finish = finish,
};
