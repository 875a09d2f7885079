/* SPDX-License-Identifier: MIT
 *
 * trace_file.h - one *.ptr file: header, thread areas, definitions and an index of its blocks, all copied and checked.
 *
 * Nothing is mapped: a file that is truncated while it is read gives short reads, never SIGBUS. The events themselves
 * stay in the file; block.h loads one block at a time.
 */
#ifndef PT_SOURCE_TRACE_FILE_H
#define PT_SOURCE_TRACE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "proftrace/codec.h"
#include "proftrace/format.h"
#include "util/arena.h"
#include "util/error.h"
#include "util/map.h"
#include "util/vec.h"

/* Where a block lies, or what lies in a raw buffer. All that is kept of it, because a billion events lie in a million
 * blocks; the rest stands in its header, which is read again with the block. */
struct pt_block_ref {
    pt_u64 where; /* offset of the header / PT_BLOCK_ALIGN, then how many events */
    pt_u64 first_ticks;
};
_Static_assert(sizeof(struct pt_block_ref) == 16, "of a billion events, 16 MiB are kept");

#define PT_BLOCK_EVENTS_BITS 14                                                     /* a raw buffer holds up to 8,192 */
#define PT_BLOCK_MAX_OFFSET ((pt_u64)PT_BLOCK_ALIGN << (64 - PT_BLOCK_EVENTS_BITS)) /* 64 PiB */

static inline struct pt_block_ref pt_block_ref_make(pt_u64 offset, pt_u32 events, pt_u64 first_ticks)
{
    return (struct pt_block_ref){offset / PT_BLOCK_ALIGN << PT_BLOCK_EVENTS_BITS | events, first_ticks};
}

static inline pt_u64 pt_block_ref_offset(const struct pt_block_ref *ref)
{
    return (ref->where >> PT_BLOCK_EVENTS_BITS) * PT_BLOCK_ALIGN;
}

static inline pt_u32 pt_block_ref_events(const struct pt_block_ref *ref)
{
    return ref->where & ((1u << PT_BLOCK_EVENTS_BITS) - 1);
}

/* Blocks of one life of a thread that follow each other without a gap. */
struct pt_block_run {
    size_t first, n;                /* items of the stream */
    pt_u64 sequence;                /* of the first one */
    pt_u64 first_event, end_event;  /* of the first and behind the last one, as they say it themselves */
    pt_u64 events;                  /* in all of them */
    pt_u64 first_ticks, last_ticks; /* of those that hold events */
    pt_u32 first_segment, last_segment;
    pt_u32 tid, life;
};

/* What lies in a raw buffer has no header in the file, and no checksum. */
struct pt_raw_run {
    pt_u64 offset;
    struct pt_block header; /* as if it were a block */
};

struct pt_slot_stream {
    PT_VEC(struct pt_block_ref); /* by sequence once the file is open */
    struct {
        PT_VEC(struct pt_block_run);
    } runs;                       /* likewise */
    const struct pt_raw_run *raw; /* of the last item, where that is no block; else NULL */
    pt_u32 slot;
    pt_u32 kind;           /* enum pt_stream_id */
    pt_u64 events;         /* of all blocks and the raw buffer */
    pt_u64 missing;        /* given to blocks once and not in the file: overwritten, dropped or damaged */
    pt_u64 missing_inside; /* of these, between two blocks of one segment: damage */
    pt_u64 missing_blocks; /* blocks of missing_inside */
};

/* The run that an item of a stream belongs to. */
const struct pt_block_run *pt_slot_stream_run(const struct pt_slot_stream *stream, size_t block);
/* Index of the first item behind a sequence number. */
size_t pt_slot_stream_behind(const struct pt_slot_stream *stream, pt_u64 sequence);
/* First ticks of the item that follows this one without a gap, in the same life; 0 = there is none. */
pt_u64 pt_slot_stream_next_ticks(const struct pt_slot_stream *stream, size_t block);

struct pt_trace_slot {
    pt_u32 slot;
    pt_u64 area_offset, area_bytes; /* 0 bytes = no thread area was found, only blocks */
    struct pt_thread_area *area;    /* a copy; NULL where there is none and after pt_trace_file_drop_areas */
    struct pt_slot_stream streams[PT_STREAM__COUNT];
};

/* The slot's area, or an empty one: never NULL. */
const struct pt_thread_area *pt_trace_slot_area(const struct pt_trace_slot *slot);

struct pt_definition {
    pt_u16 type;
    pt_u32 id;
    pt_u32 slot;
    pt_u32 bytes;
    pt_u64 ticks;
    const pt_u8 *payload; /* followed by a NUL */
};

struct pt_trace_file {
    char *path;
    const char *name; /* last component of path */
    int fd;           /* -1 where descriptors are scarce: opened again for each read */
    dev_t device;
    ino_t inode;
    pt_u64 bytes;
    struct pt_file_header header;
    char text[PT_TEXT_BYTES + 1]; /* NUL-terminated strings, see enum pt_text */
    pt_u32 text_bytes;
    char *schema; /* NUL-terminated */
    struct {
        PT_VEC(struct pt_trace_slot);
    } slots;               /* by slot number once the file is open */
    struct pt_map slot_at; /* slot number -> index + 1 into slots, while the file is scanned */
    struct {
        PT_VEC(struct pt_definition);
    } definitions; /* in file order */
    struct pt_arena arena;
    pt_u64 corrupt_definitions, corrupt_segments, corrupt_blocks;
    bool truncated;
    bool is_area_cut; /* the tail that is missing begins within the counters or raw buffers of a thread */
};

/* NULL with exit code 3 when it is no trace file, a newer format, or its header is damaged. Damage further on is
 * counted. */
struct pt_trace_file *pt_trace_file_open(const char *path, struct pt_error *err);
/* True for a file whose process ended before it had written the first byte: nothing is wrong with it. */
bool pt_trace_file_is_blank(const char *path);
void pt_trace_file_close(struct pt_trace_file *file);
/* Give the copies of thread areas back once totals were taken from them: 16 KiB each. */
void pt_trace_file_drop_areas(struct pt_trace_file *file);

/* String `index` of the text page (enum pt_text, argv onwards), "" beyond its end. */
const char *pt_trace_file_text(const struct pt_trace_file *file, pt_u32 index);

/* Read exactly `bytes` at `offset`; the number of bytes that were there. */
pt_u64 pt_trace_file_read(const struct pt_trace_file *file, pt_u64 offset, void *to, pt_u64 bytes);

#endif
