/* SPDX-License-Identifier: MIT
 *
 * I/O by file: opens, reads, writes, small reads, and bytes that were read more than once, over all processes of a
 * stage.
 *
 * Threads: one. State: one small struct per file and stage, at most MAX_FILES of them (what comes later is counted as
 * "other files"), one per open descriptor, one per path id. Never: adds stdio to descriptor-level sums.
 */
#include <stdlib.h>
#include <string.h>

#include "proftrace/payloads.h"
#include "analysis/analysis.h"
#include "facts/code_kind.h"
#include "decode/phase_names.h"
#include "facts/call_class.h"
#include "facts/state.h"
#include "facts/wait_kind.h"
#include "facts/workers.h"
#include "call_gaps.h"
#include "descriptors.h"
#include "file_results.h"
#include "file_table.h"

enum { MAX_FILES = 200000, SMALL_READ_BYTES = 4096 };

struct files {
    struct pt_profile *profile;
    PT_VEC(struct pt_file_use);
    struct pt_file_table table;
    struct pt_descriptors descriptors;
    struct pt_gaps small_gaps, read_gaps;
    struct pt_file_groups groups;
    struct pt_stage_reads *stages;
    bool *have_loaders; /* by index of a process: so far */
};

/* Longer than what an interpreter does between two reads: parsing a few bytes; taking and releasing a buffer, which
 * takes no longer than to fill it; opening the next file. Beyond that the program works on what it has read. */
#define LONGEST_SMALL_GAP_NS 5000
#define LONGEST_OPEN_GAP_NS 100000

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

/* Pipes and sockets are many and say little one by one: all of a kind are one row. */
static const char *file_name(void *context, const char *path)
{
    static const struct {
        const char *prefix, *name;
    } kinds[] = {{"pipe:[", "(pipes)"}, {"socket:[", "(sockets)"}, {"anon_inode:", "(anonymous descriptors)"},
                 {"tcp ", "(sockets)"}, {"udp ", "(sockets)"},     {"unix ", "(sockets)"}};
    (void)context;
    for (size_t i = 0; path[0] != '/' && i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(path, kinds[i].prefix, strlen(kinds[i].prefix)))
            return kinds[i].name;
    return path;
}

static void begin(void *state, struct pt_profile *profile)
{
    struct files *files = state;
    files->profile = profile;
    files->table = (struct pt_file_table){.profile = profile, .most = MAX_FILES, .group = file_name};
    files->stages = pt_calloc(profile->stages.n, sizeof *files->stages);
    files->have_loaders = pt_calloc(profile->session->n_processes, sizeof *files->have_loaders);
}

/* The file that a path id of a process means; -1 when the path is unknown. */
static pt_i64 file_of_id(struct files *files, struct pt_process *process, pt_u32 path, pt_u32 dir_path)
{
    struct pt_file_row row;
    if (!pt_file_row_of(&files->table, process, path, dir_path, &row))
        return -1;
    if (row.is_new) {
        const bool is_plain = is_plain_path(row.name), is_program = is_plain && pt_code_is_program_file(row.name);
        pt_vec_push(files,
                    ((struct pt_file_use){
                        .path = row.name,
                        .stage = row.stage,
                        .is_program = is_program,
                        .is_unseekable = !is_plain,
                        .group = is_plain && !is_program ? pt_file_groups_of(&files->groups, row.stage, row.name) : 0,
                    }));
    }
    return row.number;
}

/* A descriptor, the file that it is of, and what it has open there. */
struct use {
    struct pt_file_use *file; /* NULL = its path is not known */
    struct pt_open_file *open;
};

static struct use use_of(struct files *files, const struct pt_event *e, struct pt_descriptor_id id, pt_u32 path)
{
    if (!path)
        return (struct use){0};
    struct pt_descriptor *d = pt_descriptor_used(&files->descriptors, e, id, path);
    if (!d->file)
        d->file = (pt_u32)(file_of_id(files, e->process, path, 0) + 1);
    if (!d->file)
        return (struct use){0};
    return (struct use){&files->items[d->file - 1], pt_descriptor_open_file(&files->descriptors, d)};
}

static void add_in_main(const struct files *files, const struct pt_event *e, struct pt_file_use *f, pt_u64 ns)
{
    const pt_u64 main_ns = pt_is_main_thread(e) && !pt_is_worker(e->process) ? ns : 0;
    f->main_ns += main_ns;
    f->loading_ns += files->have_loaders[e->process->index] ? main_ns : 0;
}

static enum pt_whose note_read(struct files *files, const struct pt_event *e, struct pt_file_use *f, pt_u64 around_ns)
{
    const struct pt_critical_paths *paths = files->profile->facts->paths;
    const enum pt_whose whose = pt_whose_event(paths, e);
    f->reads.ns[whose] += (double)e->duration_ns + (double)around_ns;
    if (!f->is_program && !f->is_unseekable)
        pt_split_time_add_as(&files->stages[f->stage].all, whose, paths, e, e->start_ns - (pt_i64)around_ns);
    return whose;
}

static void opened(struct files *files, const struct pt_event *e, pt_u32 path, pt_u32 dir_path, bool stdio)
{
    const pt_i64 file = file_of_id(files, e->process, path, dir_path);
    if (file < 0)
        return;
    struct pt_file_use *f = &files->items[file];
    f->open_ns += (pt_u64)e->duration_ns;
    add_in_main(files, e, f, (pt_u64)e->duration_ns);
    note_read(files, e, f, 0);
    if (e->result < 0) {
        f->failed_opens++;
        return;
    }
    (stdio ? &f->stdio : &f->fd)->opens++;
    const struct pt_descriptor_id id = {stdio ? e->tag : e->result, stdio};
    pt_descriptor_opened(&files->descriptors, e, id, path, dir_path)->file = (pt_u32)file + 1;
}

struct transfer {
    bool is_stdio, is_small;
    pt_u64 bytes, ns;
    const pt_u64 *offset_bytes; /* NULL = where the one before ended */
};

static void was_small(struct use use, enum pt_whose whose, pt_u64 ns, pt_u64 bytes, pt_u64 around_ns)
{
    struct pt_file_use *f = use.file;
    struct pt_open_file *open = use.open;
    if (open->n_reads == 1) {
        open->first_ns = ns;
        open->first_bytes = bytes;
        return;
    }
    f->small_reads += open->first_bytes ? 2 : 1;
    f->small.ns[whose] += (double)(open->first_ns + ns + around_ns);
    f->small_read_bytes += open->first_bytes + bytes;
    open->first_ns = open->first_bytes = 0;
}

/* Where nobody knows where bytes lie, they may be others than those that were read before. */
static void cover(struct pt_layer_use *layer, struct pt_open_file *open, struct transfer read)
{
    if (read.offset_bytes)
        pt_coverage_add(&layer->coverage, *read.offset_bytes, read.bytes);
    else if (open->is_placed)
        pt_coverage_add(&layer->coverage, open->position_bytes, read.bytes);
    else
        layer->unplaced_bytes += read.bytes;
    if (!read.offset_bytes)
        open->position_bytes += read.bytes;
}

static void was_read(struct files *files, const struct pt_event *e, struct use use, struct transfer read)
{
    struct pt_file_use *f = use.file;
    struct pt_layer_use *layer = read.is_stdio ? &f->stdio : &f->fd;
    f->reader = e->process->index + 1;
    layer->reads++;
    layer->read_bytes += read.bytes;
    layer->read_ns += read.ns;
    add_in_main(files, e, f, read.ns);
    pt_file_groups_add(&files->groups, f->group, (pt_i64)read.ns);
    const bool is_first = !use.open->n_reads++;
    const pt_u64 around_ns = pt_gap_before(&files->read_gaps, e, !f->is_unseekable,
                                           is_first ? LONGEST_OPEN_GAP_NS : LONGEST_SMALL_GAP_NS + e->duration_ns);
    const pt_u64 small_around_ns =
        pt_gap_of_interpreter(&files->small_gaps, e, read.is_small && !f->is_unseekable, LONGEST_SMALL_GAP_NS);
    layer->around_ns += around_ns;
    if (f->is_unseekable)
        return;
    const enum pt_whose whose = note_read(files, e, f, around_ns);
    cover(layer, use.open, read);
    if (!read.is_small || !read.bytes)
        return;
    was_small(use, whose, read.ns, read.bytes, small_around_ns);
    pt_split_time_add_as(&files->stages[f->stage].small, whose, files->profile->facts->paths, e,
                         e->start_ns - (pt_i64)small_around_ns);
}

static void was_written(struct files *files, struct use use, struct transfer written, bool moves)
{
    struct pt_file_use *f = use.file;
    struct pt_layer_use *layer = written.is_stdio ? &f->stdio : &f->fd;
    layer->writes++;
    layer->write_bytes += written.bytes;
    layer->write_ns += written.ns;
    pt_file_groups_add(&files->groups, f->group, (pt_i64)written.ns);
    if (moves)
        use.open->position_bytes += written.bytes;
}

/* All transfers of the descriptor layer have { i32 result, u32 path, u64 extra } as io_read has. */
static void transfer(struct files *files, const struct pt_event *e)
{
    const struct pt_ev_io_read *fields = (const struct pt_ev_io_read *)(const void *)e->payload;
    const struct use use = use_of(files, e, (struct pt_descriptor_id){e->tag, false}, fields->path);
    if (!use.file || fields->result < 0)
        return;
    const pt_u64 bytes = (pt_u64)fields->result, extra = fields->requested_bytes;
    struct transfer read = {.bytes = bytes, .ns = (pt_u64)e->duration_ns, .is_small = bytes < SMALL_READ_BYTES};
    switch (e->desc->kind) {
    case PT_KIND_io_read:
        read.is_small = extra < SMALL_READ_BYTES;
        was_read(files, e, use, read);
        break;
    case PT_KIND_io_readv:
        was_read(files, e, use, read);
        break;
    case PT_KIND_io_pread:
    case PT_KIND_io_preadv:
        read.offset_bytes = &extra;
        was_read(files, e, use, read);
        break;
    default:
        was_written(files, use, read, e->desc->kind == PT_KIND_io_write || e->desc->kind == PT_KIND_io_writev);
    }
}

/* Whether such a call moves a descriptor, or says itself where the bytes lie, is not recorded: nobody knows the place
 * of these, and of the next ones. */
static struct use use_of_copy(struct files *files, const struct pt_event *e, pt_i32 fd, pt_u32 path)
{
    const struct use use = use_of(files, e, (struct pt_descriptor_id){fd, false}, path);
    if (use.file)
        use.open->is_placed = false;
    return use;
}

/* Read from one file and written to another. The time is that of the one that it may wait for: it passed once. */
static void copied(struct files *files, const struct pt_event *e)
{
    const struct pt_ev_io_copy *copy = pt_event_as(e, io_copy);
    const pt_u64 ns = (pt_u64)e->duration_ns;
    const bool waits_to_write = pt_copies_to_channel(e);
    if (copy->result < 0)
        return;
    struct transfer moved = {.bytes = (pt_u64)copy->result, .ns = waits_to_write ? 0 : ns};
    struct use use = use_of_copy(files, e, e->tag, copy->path);
    if (use.file)
        was_read(files, e, use, moved);
    moved.ns = waits_to_write || !use.file ? ns : 0;
    use = use_of_copy(files, e, copy->to_fd, copy->to_path);
    if (use.file)
        was_written(files, use, moved, false);
}

static void stdio_transfer(struct files *files, const struct pt_event *e)
{
    const struct pt_ev_stdio_read *fields = (const struct pt_ev_stdio_read *)(const void *)e->payload;
    const struct use use = use_of(files, e, (struct pt_descriptor_id){e->tag, true}, fields->path);
    if (!use.file || fields->bytes < 0)
        return;
    const struct transfer moved = {.is_stdio = true, .bytes = (pt_u64)fields->bytes, .ns = (pt_u64)e->duration_ns};
    if (e->desc->kind == PT_KIND_stdio_read)
        was_read(files, e, use, moved);
    else
        was_written(files, use, moved, true);
}

static void move(struct files *files, const struct pt_event *e, pt_u32 path, bool stdio, pt_u64 position_bytes)
{
    const struct use use = use_of(files, e, (struct pt_descriptor_id){e->tag, stdio}, path);
    if (!use.file)
        return;
    use.open->position_bytes = position_bytes;
    use.open->is_placed = true;
}

static void seeked(struct files *files, const struct pt_event *e)
{
    if (e->desc->kind == PT_KIND_stdio_seek) {
        const struct pt_ev_stdio_seek *seek = pt_event_as(e, stdio_seek);
        if (seek->position_plus_1)
            move(files, e, seek->path, true, seek->position_plus_1 - 1);
        return;
    }
    const struct pt_ev_io_seek *seek = pt_event_as(e, io_seek);
    if (seek->position_bytes >= 0)
        move(files, e, seek->path, false, (pt_u64)seek->position_bytes);
}

/* What moves bytes, or where the next ones are. */
static void used(struct files *files, const struct pt_event *e)
{
    switch (e->desc->kind) {
    case PT_KIND_io_read:
    case PT_KIND_io_readv:
    case PT_KIND_io_pread:
    case PT_KIND_io_preadv:
    case PT_KIND_io_write:
    case PT_KIND_io_writev:
    case PT_KIND_io_pwrite:
    case PT_KIND_io_pwritev:
        transfer(files, e);
        break;
    case PT_KIND_io_copy:
        copied(files, e);
        break;
    case PT_KIND_stdio_read:
    case PT_KIND_stdio_write:
        stdio_transfer(files, e);
        break;
    case PT_KIND_io_seek:
    case PT_KIND_stdio_seek:
        seeked(files, e);
        break;
    default:
        break;
    }
}

static void event(void *state, const struct pt_event *e)
{
    struct files *files = state;
    const enum pt_phase phase = e->desc->kind == PT_KIND_phase_begin ? pt_phase_of_tag(e->tag) : (enum pt_phase)0;
    switch (e->desc->kind) {
    case PT_KIND_phase_begin:
        files->have_loaders[e->process->index] |= phase == PT_PHASE_loader_start || phase == PT_PHASE_data_wait;
        break;
    case PT_KIND_io_open:
        opened(files, e, pt_event_as(e, io_open)->path, pt_event_as(e, io_open)->dir_path, false);
        break;
    case PT_KIND_io_open_temp:
        opened(files, e, pt_event_as(e, io_open_temp)->path, 0, false);
        break;
    case PT_KIND_stdio_open:
        opened(files, e, pt_event_as(e, stdio_open)->path, 0, true);
        break;
    case PT_KIND_io_dup:
        pt_descriptor_duplicated(&files->descriptors, e, e->result, pt_event_as(e, io_dup)->path);
        break;
    default:
        used(files, e);
    }
}

static void finish(void *state, struct pt_profile *profile)
{
    struct files *files = state;
    pt_file_results(profile, &files->groups, files->stages, files->items, files->n);
    free(files->stages);
    free(files->have_loaders);
    pt_file_groups_fini(&files->groups);
    free(files->items);
    pt_descriptors_fini(&files->descriptors);
    pt_file_table_fini(&files->table);
    pt_gaps_fini(&files->small_gaps);
    pt_gaps_fini(&files->read_gaps);
}

const struct pt_analysis pt_analysis_files = {
    .name = "files",
    .summary = "I/O by file: opens, bytes, small reads, bytes read again",
    .categories = PT_CATEGORY_IO | PT_CATEGORY_STDIO | PT_CATEGORY_USER,
    .state_size = sizeof(struct files),
    .begin = begin,
    .event = event,
    .finish = finish,
};
