/* SPDX-License-Identifier: MIT
 *
 * trace_file.h - one *.ptr file: header, thread areas, definitions and an index of its blocks, all copied and checked.
 *
 * Nothing is mapped: a file that is truncated while it is read gives short reads, never SIGBUS. The events themselves
 * stay in the file; block.h loads one block at a time. open.h makes one.
 */
#ifndef PT_SOURCE_TRACE_FILE_H
#define PT_SOURCE_TRACE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "proftrace/format.h"
#include "util/arena.h"
#include "util/map.h"
#include "util/vec.h"
#include "slot_blocks.h"

struct pt_trace_slot {
    pt_u32 slot;
    pt_u64 area_offset, area_bytes; /* 0 bytes = no thread area was found, only blocks */
    pt_u64 totals_seq;              /* of the area */
    struct pt_packed_area *area;    /* a copy; NULL where there is none and after pt_trace_file_drop_areas */
    struct pt_slot_blocks blocks[PT_BUFFER__COUNT];
};

/* Where a part of the slot lies that its area names by an offset, and how much of the file may belong to it: behind the
 * area's header, or before the area, in the head. */
bool pt_trace_slot_part(const struct pt_trace_slot *slot, pt_i32 offset, pt_u64 *ret_offset, pt_u64 *ret_room);
/* The slot's area, or an empty one. */
void pt_trace_slot_area(const struct pt_trace_slot *slot, struct pt_thread_area *ret_area);

/* Totals by minute of one slot. */
struct pt_minutes_segment {
    pt_u64 offset, bytes;
    pt_u32 slot;
};

struct pt_definition {
    pt_u16 type;
    pt_u32 id;
    pt_u32 slot;
    pt_u32 bytes;
    pt_u64 ticks;
    const pt_u8 *payload; /* followed by a NUL */
};

struct pt_trace_file {
    char *path;       /* "small-1-2.pts#3" for the fourth page behind the schema of that file */
    const char *name; /* last component of path */
    int fd;           /* -1 where descriptors are scarce: it shares one with others, see pt_trace_file_share */
    dev_t device;
    ino_t inode;
    uid_t uid;   /* whose it is */
    pt_u64 base; /* where it begins in what path names: a head in the file of small processes; else 0 */
    pt_u64 bytes;
    struct pt_file_header *header; /* without its reserved end */
    char *text;                    /* NUL-terminated strings, see enum pt_text */
    pt_u32 text_bytes;
    char *schema; /* NUL-terminated; NULL after pt_trace_file_drop_schema */
    struct {
        PT_VEC(struct pt_trace_slot);
    } slots;               /* by slot number once the file is open */
    struct pt_map slot_at; /* slot number -> index + 1 into slots, while the file is scanned */
    struct {
        PT_VEC(struct pt_definition);
    } definitions; /* in file order */
    struct {
        PT_VEC(struct pt_minutes_segment);
    } minutes; /* by slot number, then in file order, once the file is open */
    struct pt_arena arena;
    pt_u64 corrupt_definitions, corrupt_segments, corrupt_blocks;
    bool truncated;
    int read_errno;   /* why bytes that are there could not be read while it was opened; 0 = all could */
    bool is_area_cut; /* the missing tail begins within the counters or raw buffers of a thread */
};

/* A descriptor for reading a path that may be anything; -1 with errno. */
int pt_trace_file_descriptor(const char *path);
void pt_trace_file_close(struct pt_trace_file *file);
/* Keep a copy of a slot's area: of thousands of words a few are not 0. */
void pt_trace_slot_keep_area(struct pt_trace_slot *slot, const struct pt_thread_area *area);
/* Free the copies of thread areas after totals were taken from them, and that of the schema after it was read. */
void pt_trace_file_drop_areas(struct pt_trace_file *file);
void pt_trace_file_drop_schema(struct pt_trace_file *file);

/* String `index` of the text page (enum pt_text, argv onwards), "" beyond its end. */
const char *pt_trace_file_text(const struct pt_trace_file *file, pt_u32 index);

/* Gives the file's descriptor up: from now on it shares one with all the others that did so, opened again for whose
 * turn it is. */
void pt_trace_file_share(struct pt_trace_file *file);
/* Read exactly `bytes` at `offset`; the number of bytes that were there. */
pt_u64 pt_trace_file_read(const struct pt_trace_file *file, pt_u64 offset, void *to, pt_u64 bytes);
/* The same while it is opened: what the file's size promises and is not given counts as its missing tail. */
pt_u64 pt_trace_file_scan(struct pt_trace_file *file, pt_u64 offset, void *to, pt_u64 bytes);

#endif
