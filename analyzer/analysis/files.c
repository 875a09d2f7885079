/* SPDX-License-Identifier: MIT
 *
 * I/O by file: opens, reads, writes, small reads, and what was read more than once, over all processes of a stage.
 *
 * Threads: one. State: one small struct per file and stage, at most MAX_FILES of them (what comes later is counted as
 * "other files"), one per open descriptor, one per path id. Never: adds stdio to descriptor-level sums.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "call_class.h"
#include "coverage.h"
#include "gaps.h"

enum { MAX_FILES = 200000, MAX_ROWS = 100, SMALL_READ_BYTES = 4096, MANY_SMALL_READS = 64 };

struct layer { /* descriptors, or stdio */
    pt_u64 reads, read_bytes, read_ns;
    pt_u64 around_ns; /* short gaps between reads */
    pt_u64 writes, write_bytes, write_ns;
    struct pt_coverage coverage;
    pt_u32 opens;
};

struct file {
    const char *path; /* interned; NULL = the files above MAX_FILES */
    pt_u32 stage;
    pt_u32 failed_opens;
    bool is_stream; /* pipe, socket, device: nothing can be read from it twice */
    pt_u64 open_ns;
    pt_u64 small_reads, small_read_ns, small_read_bytes, small_around_ns;
    struct layer fd, stdio;
};

struct descriptor {
    pt_u32 path; /* string id that the file was found by */
    pt_u32 file;
    pt_u64 position_bytes;
};

struct files {
    struct pt_profile *profile;
    PT_VEC(struct file);
    struct pt_map by_path;  /* stage, interned path -> index in items, plus 1 */
    struct pt_map by_id;    /* process, string id -> the same */
    struct pt_map by_fd[2]; /* process, descriptor -> index in descriptors, plus 1: descriptor layer and stdio */
    struct {
        PT_VEC(struct descriptor);
    } descriptors;
    struct pt_gaps small_gaps, read_gaps;
};

/* Longer than what an interpreter does between two reads: parsing a few bytes, or taking and releasing a buffer. */
#define LONGEST_SMALL_GAP_NS 5000
#define LONGEST_READ_GAP_NS 100000

static void begin(void *state, struct pt_profile *profile)
{
    ((struct files *)state)->profile = profile;
}

/* A file on a disk, as opposed to a pipe, a socket, a device or the kernel's own. */
static bool is_plain_path(const char *path)
{
    static const char *const kernel[] = {"/dev/", "/proc/", "/sys/"};
    if (!path || path[0] != '/')
        return false;
    if (!strncmp(path, "/dev/shm/", strlen("/dev/shm/")))
        return true;
    for (size_t i = 0; i < sizeof kernel / sizeof *kernel; i++)
        if (!strncmp(path, kernel[i], strlen(kernel[i])))
            return false;
    return true;
}

static pt_u32 file_of_path(struct files *files, pt_u32 stage, const char *path)
{
    pt_u64 key = (pt_u64)stage << 48 ^ (pt_u64)(uintptr_t)path;
    if (files->n >= MAX_FILES && !pt_map_find(&files->by_path, key)) {
        path = NULL;
        key = (pt_u64)stage << 48;
    }
    pt_u64 *slot = pt_map_at(&files->by_path, key);
    if (!*slot) {
        pt_vec_push(files, ((struct file){.path = path, .stage = stage, .is_stream = !is_plain_path(path)}));
        *slot = files->n;
    }
    return (pt_u32)(*slot - 1);
}

/* Pipes and sockets are many and say little one by one: all of a kind are one row. */
static const char *file_name(const char *path)
{
    static const struct {
        const char *prefix, *name;
    } kinds[] = {{"pipe:[", "(pipes)"}, {"socket:[", "(sockets)"}, {"anon_inode:", "(anonymous descriptors)"}};
    for (size_t i = 0; path && path[0] != '/' && i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(path, kinds[i].prefix, strlen(kinds[i].prefix)))
            return kinds[i].name;
    return path;
}

/* The file that a path id of a process means; -1 when the path is unknown. */
static pt_i64 file_of_id(struct files *files, struct pt_process *process, pt_u32 path, pt_u32 dir_path)
{
    if (!path)
        return -1;
    const pt_u64 key = (pt_u64)process->index << 32 | path;
    const pt_u64 *known = dir_path ? NULL : pt_map_find(&files->by_id, key);
    if (known)
        return (pt_i64)*known - 1;
    const char *text = file_name(pt_process_absolute_path(process, path, dir_path));
    if (!text)
        return -1;
    const pt_u32 file = file_of_path(files, pt_profile_stage_of(files->profile, process), text);
    if (!dir_path)
        *pt_map_at(&files->by_id, key) = file + 1ull;
    return file;
}

static struct descriptor *descriptor_slot(struct files *files, const struct pt_event *e, pt_i32 fd, bool stdio)
{
    const pt_u64 key = (pt_u64)e->process->index << 32 | (pt_u32)fd;
    pt_u64 *slot = pt_map_at(&files->by_fd[stdio], key);
    if (!*slot) {
        pt_vec_push(&files->descriptors, (struct descriptor){0});
        *slot = files->descriptors.n;
    }
    return &files->descriptors.items[*slot - 1];
}

/* The descriptor of an event, made on the way when its open was not seen. NULL when its path is unknown. */
static struct descriptor *descriptor_of(struct files *files, const struct pt_event *e, pt_u32 path, bool stdio)
{
    if (!path)
        return NULL;
    struct descriptor *d = descriptor_slot(files, e, e->tag, stdio);
    if (d->path == path)
        return d;
    const pt_i64 file = file_of_id(files, e->process, path, 0);
    if (file < 0)
        return NULL;
    *d = (struct descriptor){.path = path, .file = (pt_u32)file};
    return d;
}

static void opened(struct files *files, const struct pt_event *e, pt_u32 path, pt_u32 dir_path, bool stdio)
{
    const pt_i64 file = file_of_id(files, e->process, path, dir_path);
    if (file < 0)
        return;
    struct file *f = &files->items[file];
    f->open_ns += (pt_u64)e->duration_ns;
    if (e->result < 0) {
        f->failed_opens++;
        return;
    }
    (stdio ? &f->stdio : &f->fd)->opens++;
    struct descriptor *d = descriptor_slot(files, e, stdio ? e->tag : e->result, stdio);
    *d = (struct descriptor){.path = path, .file = (pt_u32)file};
}

static void was_read(struct files *files, const struct pt_event *e, struct descriptor *d, bool stdio, pt_u64 bytes,
                     const pt_u64 *offset, bool small)
{
    struct file *f = &files->items[d->file];
    struct layer *layer = stdio ? &f->stdio : &f->fd;
    layer->reads++;
    layer->read_bytes += bytes;
    layer->read_ns += (pt_u64)e->duration_ns;
    layer->around_ns += pt_gap_before(&files->read_gaps, e, !f->is_stream, LONGEST_READ_GAP_NS);
    const pt_u64 around_ns = pt_gap_before(&files->small_gaps, e, small && !f->is_stream, LONGEST_SMALL_GAP_NS);
    if (f->is_stream)
        return;
    pt_coverage_add(&layer->coverage, offset ? *offset : d->position_bytes, bytes);
    if (!offset)
        d->position_bytes += bytes;
    if (small && bytes) {
        f->small_reads++;
        f->small_read_ns += (pt_u64)e->duration_ns;
        f->small_read_bytes += bytes;
        f->small_around_ns += around_ns;
    }
}

static void was_written(struct files *files, const struct pt_event *e, struct descriptor *d, bool stdio, pt_u64 bytes,
                        bool moves)
{
    struct file *f = &files->items[d->file];
    struct layer *layer = stdio ? &f->stdio : &f->fd;
    layer->writes++;
    layer->write_bytes += bytes;
    layer->write_ns += (pt_u64)e->duration_ns;
    if (moves)
        d->position_bytes += bytes;
}

/* All transfers of the descriptor layer have { i32 result, u32 path, u64 extra } as io_read has. */
static void transfer(struct files *files, const struct pt_event *e)
{
    const struct pt_ev_io_read *fields = (const struct pt_ev_io_read *)(const void *)e->payload;
    struct descriptor *d = descriptor_of(files, e, fields->path, false);
    if (!d || fields->result < 0)
        return;
    const pt_u64 bytes = (pt_u64)fields->result, extra = fields->requested_bytes;
    switch (e->desc->row) {
    case PT_ROW_io_read:
        was_read(files, e, d, false, bytes, NULL, extra < SMALL_READ_BYTES);
        break;
    case PT_ROW_io_readv:
        was_read(files, e, d, false, bytes, NULL, bytes < SMALL_READ_BYTES);
        break;
    case PT_ROW_io_pread:
    case PT_ROW_io_preadv:
        was_read(files, e, d, false, bytes, &extra, bytes < SMALL_READ_BYTES);
        break;
    default:
        was_written(files, e, d, false, bytes, e->desc->row == PT_ROW_io_write || e->desc->row == PT_ROW_io_writev);
    }
}

static void stdio_transfer(struct files *files, const struct pt_event *e)
{
    const struct pt_ev_stdio_read *fields = (const struct pt_ev_stdio_read *)(const void *)e->payload;
    struct descriptor *d = descriptor_of(files, e, fields->path, true);
    if (!d || fields->bytes < 0)
        return;
    if (e->desc->row == PT_ROW_stdio_read)
        was_read(files, e, d, true, (pt_u64)fields->bytes, NULL, false);
    else
        was_written(files, e, d, true, (pt_u64)fields->bytes, true);
}

static void sought(struct files *files, const struct pt_event *e)
{
    const struct pt_ev_io_seek *seek = pt_event_as(e, io_seek);
    struct descriptor *d = descriptor_of(files, e, seek->path, false);
    if (d && seek->position_bytes >= 0)
        d->position_bytes = (pt_u64)seek->position_bytes;
}

static void event(void *state, const struct pt_event *e)
{
    struct files *files = state;
    switch (e->desc->row) {
    case PT_ROW_io_open:
        opened(files, e, pt_event_as(e, io_open)->path, pt_event_as(e, io_open)->dir_path, false);
        break;
    case PT_ROW_io_open_temp:
        opened(files, e, pt_event_as(e, io_open_temp)->path, 0, false);
        break;
    case PT_ROW_stdio_open:
        opened(files, e, pt_event_as(e, stdio_open)->path, 0, true);
        break;
    case PT_ROW_io_read:
    case PT_ROW_io_readv:
    case PT_ROW_io_pread:
    case PT_ROW_io_preadv:
    case PT_ROW_io_write:
    case PT_ROW_io_writev:
    case PT_ROW_io_pwrite:
    case PT_ROW_io_pwritev:
        transfer(files, e);
        break;
    case PT_ROW_stdio_read:
    case PT_ROW_stdio_write:
        stdio_transfer(files, e);
        break;
    case PT_ROW_io_seek:
        sought(files, e);
        break;
    default:
        break;
    }
}

/* ---- results ---- */

static pt_u64 read_again_bytes(const struct layer *layer)
{
    const pt_u64 distinct = pt_coverage_bytes(&layer->coverage);
    return distinct && layer->read_bytes > distinct ? layer->read_bytes - distinct : 0;
}

static pt_u64 total_ns(const struct file *f)
{
    return f->open_ns + f->fd.read_ns + f->fd.write_ns + f->stdio.read_ns + f->stdio.write_ns;
}

static int by_stage_time_path(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    const pt_u64 xt = total_ns(x), yt = total_ns(y);
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

static void add_layer(struct totals *sum, const struct file *f, const struct layer *layer, pt_u64 open_ns)
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

static void add_file(struct totals *sum, const struct file *f)
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

static void add_row(struct pt_table *table, const struct file *f)
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
    cells[1] = pt_seconds((pt_i64)total_ns(f));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        cells[i + 2] = pt_integer(numbers[i]);
}

static void finish_stage(const struct files *files, size_t first, size_t end, pt_u32 stage, struct pt_metrics *metrics)
{
    const struct pt_scope scope = pt_scope_stage(stage);
    struct pt_table *table =
        pt_metrics_table(metrics, scope, "io.files", "Files", columns, sizeof columns / sizeof *columns);
    struct totals sum = {0};
    for (size_t i = first; i < end; i++) {
        add_file(&sum, &files->items[i]);
        if (i - first < MAX_ROWS)
            add_row(table, &files->items[i]);
        else
            table->rows_left_out++;
    }
    pt_metrics_set(metrics, scope, "io.files.count", pt_integer(sum.files));
    pt_metrics_set(metrics, scope, "io.distinct.bytes", pt_integer(sum.distinct_bytes));
    pt_metrics_set(metrics, scope, "io.read_again.bytes", pt_integer(sum.read_again_bytes));
    pt_metrics_set(metrics, scope, "io.read_again.files", pt_integer(sum.read_again_files));
    pt_metrics_set(metrics, scope, "io.read_again.cost_s", pt_real(sum.read_again_s));
    pt_metrics_set(metrics, scope, "io.read_small.calls", pt_integer(sum.small_reads));
    pt_metrics_set(metrics, scope, "io.read_small.bytes", pt_integer(sum.small_bytes));
    pt_metrics_set(metrics, scope, "io.read_small.cost_s", pt_real(sum.small_s));
}

static void finish(void *state, struct pt_profile *profile)
{
    struct files *files = state;
    if (files->n)
        qsort(files->items, files->n, sizeof *files->items, by_stage_time_path);
    size_t first = 0;
    for (pt_u32 stage = 0; stage < profile->stages.n; stage++) {
        size_t end = first;
        while (end < files->n && files->items[end].stage == stage)
            end++;
        finish_stage(files, first, end, stage, &profile->metrics);
        first = end;
    }
    free(files->items);
    free(files->descriptors.items);
    pt_map_fini(&files->by_path);
    pt_map_fini(&files->by_id);
    pt_map_fini(&files->by_fd[0]);
    pt_map_fini(&files->by_fd[1]);
    pt_gaps_fini(&files->small_gaps);
    pt_gaps_fini(&files->read_gaps);
}

const struct pt_analysis pt_analysis_files = {
    .name = "files",
    .summary = "I/O by file: opens, bytes, small reads, bytes read again",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO,
    .state_size = sizeof(struct files),
    .begin = begin,
    .event = event,
    .finish = finish,
};
