/* SPDX-License-Identifier: MIT
 *
 * trace_writer_data.h - what trace_writer.c collects and trace_writer_file.c lays out.
 */
#ifndef PT_SOURCE_TRACE_WRITER_DATA_H
#define PT_SOURCE_TRACE_WRITER_DATA_H

#include <zstd.h>

#include "proftrace/codec.h"
#include "util/map.h"
#include "util/str.h"
#include "util/vec.h"
#include "trace_writer.h"

enum { RAW_BUFFER_BYTES = 64 * 1024 };

/* One stream of one slot: the open block and the blocks so far. */
struct writer_stream {
    struct {
        PT_VEC(struct pt_record);
    } records;
    struct {
        PT_VEC(struct pt_unit16);
    } units;
    pt_u32 life, tid;
    pt_u64 sequence, events;
};

struct writer_slot {
    pt_u32 slot;
    struct pt_thread_area area;
    struct writer_stream streams[PT_STREAM__COUNT];
    struct pt_str blocks;
};

struct pt_trace_writer {
    struct pt_file_header header;
    struct pt_str text, definitions, output;
    struct {
        PT_VEC(struct writer_slot *);
    } slots;
    struct pt_intern names;
    struct pt_map ids; /* interned pointer -> id */
    pt_u32 n_strings, n_stacks, n_modules;
    enum pt_block_coding coding;
    bool keep_raw;
    ZSTD_CCtx *zstd;
    struct pt_codec_scratch scratch;
};

/* Give all records of a stream this generation. */
void pt_writer_set_generation(struct writer_stream *stream, pt_u64 generation);
/* Close the open block of a stream. */
void pt_writer_flush_stream(struct pt_trace_writer *writer, struct writer_slot *slot, int kind);

#endif
