/* SPDX-License-Identifier: MIT
 *
 * io/file_use.h - how a file was used.
 */
#ifndef PT_ANALYSIS_IO_FILE_USE_H
#define PT_ANALYSIS_IO_FILE_USE_H

#include <stdbool.h>

#include "facts/path/split_time.h"
#include "file_coverage.h"

struct pt_layer_use { /* descriptors, or stdio */
    pt_u64 reads, read_bytes, read_ns;
    pt_u64 around_ns; /* short gaps between reads */
    pt_u64 writes, write_bytes, write_ns;
    struct pt_coverage coverage;
    pt_u64 unplaced_bytes; /* read where nobody knows: counted as read once */
    pt_u32 opens;
};

struct pt_file_use {
    const char *path; /* interned; NULL = the files above MAX_FILES */
    pt_u32 stage;
    pt_u32 failed_opens;
    pt_u32 reader;      /* index of the process that read it last, plus 1; 0 = none */
    pt_u32 group;       /* among the path groups, plus 1; 0 = there are too many */
    bool is_program;    /* a module of Python, a library: no data */
    bool is_unseekable; /* pipe, socket, device: nothing can be read from it twice */
    pt_u64 open_ns;
    pt_u64 main_ns;    /* of opens and reads: by main threads of no workers */
    pt_u64 loading_ns; /* of these, once their process had a loader */
    pt_u64 small_reads, small_read_bytes;
    struct pt_split_sum small; /* with short gaps around them */
    struct pt_split_sum reads; /* all, with their opens and short gaps */
    struct pt_layer_use fd, stdio;
};

/* Of a stage, when its data was read by anybody. */
struct pt_stage_reads {
    struct pt_split_time all, small;
};

/* Coverage is known in pieces of 4 KiB and more: no more was distinct than was read. */
static inline pt_u64 pt_layer_distinct(const struct pt_layer_use *layer)
{
    const pt_u64 covered = pt_coverage_bytes(&layer->coverage) + layer->unplaced_bytes;
    return covered < layer->read_bytes ? covered : layer->read_bytes;
}

static inline pt_u64 pt_layer_read_again(const struct pt_layer_use *layer)
{
    const pt_u64 distinct = pt_layer_distinct(layer);
    return distinct && layer->read_bytes > distinct ? layer->read_bytes - distinct : 0;
}

/* What a stream and a descriptor both read is the same bytes: the file's, once. */
static inline pt_u64 pt_file_distinct(const struct pt_file_use *f)
{
    const struct pt_coverage both = pt_coverage_of_both(f->fd.coverage, f->stdio.coverage);
    const pt_u64 covered = pt_coverage_bytes(&both) + f->fd.unplaced_bytes + f->stdio.unplaced_bytes;
    const pt_u64 of_layers = pt_layer_distinct(&f->fd) + pt_layer_distinct(&f->stdio);
    return covered < of_layers ? covered : of_layers;
}

/* Read by both layers; one of them read it again. */
static inline pt_u64 pt_file_distinct_twice(const struct pt_file_use *f)
{
    return pt_layer_distinct(&f->fd) + pt_layer_distinct(&f->stdio) - pt_file_distinct(f);
}

static inline pt_u64 pt_file_read_again(const struct pt_file_use *f)
{
    return pt_layer_read_again(&f->fd) + pt_layer_read_again(&f->stdio) + pt_file_distinct_twice(f);
}

/* What the stage itself has written must be read for that, each time: the rest is waste. */
static inline pt_u64 pt_file_wasted_bytes(const struct pt_file_use *f)
{
    const pt_u64 again = pt_file_read_again(f), written = f->fd.write_bytes + f->stdio.write_bytes;
    return again > written && !f->is_unseekable ? again - written : 0;
}

/* Time in calls on a file. */
static inline pt_u64 pt_file_total_ns(const struct pt_file_use *f)
{
    return f->open_ns + f->fd.read_ns + f->fd.write_ns + f->stdio.read_ns + f->stdio.write_ns;
}

#endif
