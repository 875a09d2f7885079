/* SPDX-License-Identifier: MIT
 *
 * format.h - the trace file, byte for byte. docs/format.md explains it; where the two differ, this header is right.
 *
 * One file per process image, or a place in a file of small ones: below. It is mapped MAP_SHARED and written in place,
 * so that whatever was committed survives any death of the process. All numbers are little-endian. The first THREAD
 * begins within the head; all other segments begin with a page, and all end with one.
 *
 *   file    := head (two pages: header, text where it is short, first definitions and records), schema text, segment*
 *   segment := THREAD  a thread's totals, its two raw buffers, its first definitions
 *            | BLOCKS  compressed blocks of one thread, in order; recycled, oldest first, when the ring is full
 *            | DEFS    definitions of one thread; never recycled
 *            | MINUTES totals of one thread by minute; never recycled
 *
 * Rules by which a reader can trust a file that stopped at any instant:
 *  1. A record is there when the word stored last carries the expected generation; a block or definition, when its
 * commit word is there and its checksum holds. Everything else is skipped.
 *  2. A raw buffer whose sequence number is not above that of the buffer's last committed block is a duplicate of it.
 *  3. Totals are banked: bank[totals_seq & 1] is whole and covers all records of sequences <= totals_seq of the records
 *     buffer; later blocks and the raw buffer are added by the reader.
 *  4. first_event of a block counts the events of its buffer before it: a gap between blocks is what was overwritten.
 *  5. A segment header that is all zero was reserved and never set up, or was a ring's and was given back
 *     (launcher/ring_space.c): step over it page by page.
 *  6. An id that has no definition in this file may have been inherited: look in the parent's file (parent_trace_id).
 *
 * Evolution: new fields go into reserved space; a new meaning is a new format version.
 */
#ifndef PROFTRACE_FORMAT_H
#define PROFTRACE_FORMAT_H

#include "python.h"
#include "schema.h"

#define PT_FILE_SUFFIX ".ptr"
#define PT_SPARE_PREFIX "child-of-" /* of a file made for a child that may come: see decision 0032 */
#define PT_FILE_MAGIC "PROFTRC\n"
#define PT_FORMAT_VERSION 3u
#define PT_PAGE_BYTES 4096u

/* ---- clock ---- */
enum pt_clock_source { PT_CLOCK_TSC = 1, PT_CLOCK_MONOTONIC = 2 };

/* One instant on both clocks. `counter` is the raw TSC, or CLOCK_MONOTONIC ns where the TSC cannot be used. */
struct pt_clock_pair {
    pt_u64 counter;
    pt_u64 monotonic_ns;
};

/* Records hold ticks: (counter - clock_base) >> clock_shift, in PT_TIME_BITS bits. */
#define PT_TIME_BITS 52
#define PT_GENERATION_BITS 12
#define PT_GENERATION_MASK ((1u << PT_GENERATION_BITS) - 1)

/* ---- the file header: page 0 ---- */
enum pt_process_state {
    PT_PROCESS_LIVE = 1,   /* no end was seen: running, killed or crashed */
    PT_PROCESS_EXITED = 2, /* exit_status is valid */
    PT_PROCESS_EXECED = 3, /* replaced itself by another image */
};

#define PT_IGNORED_OPTIONS_BYTES 512u
#define PT_IGNORED_VALUE_BYTES 32 /* a value is cut behind as many: it may be a secret, given to the wrong variable */

#define PT_HEADER_BYTES 1344u /* fields of the header, with room for some more */

enum pt_heap_mode { PT_HEAP_OFF = 0, PT_HEAP_SAMPLED = 1, PT_HEAP_FULL = 2 };

struct pt_file_header {
    char magic[8];
    pt_u32 format_version;
    pt_u32 header_bytes; /* first segment starts here */
    pt_u32 text_offset;  /* process text: see enum pt_text_item */
    pt_u32 text_bytes;
    pt_u32 schema_offset;
    pt_u32 schema_bytes;

    pt_u64 trace_id;        /* random, never 0 */
    pt_u64 parent_trace_id; /* the file of the process this one was forked from; 0 = not forked from a traced one */
    pt_u32 pid;             /* as the process sees it */
    pt_u32 ppid;
    pt_u32 uid;
    pt_u32 state; /* enum pt_process_state */
    pt_i32 exit_status;
    pt_u32 tool_version; /* major << 16 | minor << 8 | patch */
    char boot_id[40];    /* machine and boot, so that clocks of files can be joined; "" = unknown */

    pt_u32 clock_source; /* enum pt_clock_source */
    pt_u32 clock_shift;
    pt_u64 clock_base;  /* counter at tick 0 */
    pt_u64 realtime_ns; /* CLOCK_REALTIME at clock_first */
    struct pt_clock_pair clock_first;
    struct pt_clock_pair clock_last[2]; /* refreshed on slow paths; take clock_last[clock_index & 1] */
    pt_u64 clock_index;                 /* 0 = only clock_first is valid */

    pt_u64 file_bytes; /* bytes of the file given out so far; the last ones may never have been had */
    pt_u64 ring_limit_bytes;
    pt_u64 ring_bytes; /* bytes of BLOCKS segments */
    pt_u64 heap_sample_bytes;
    pt_u32 heap_mode; /* enum pt_heap_mode */
    pt_u32 options;   /* PT_OPTION_ bits */

    /* What the process knows about itself, refreshed on slow paths and at its end; 0 = never read. */
    pt_u64 end_counter; /* counter at exit, _exit or exec */
    pt_u64 cpu_ns;      /* user + system time of the process */
    pt_u64 max_rss_bytes;
    pt_u64 min_faults;
    pt_u64 maj_faults;

    pt_u64 drops[32]; /* by enum pt_drop, where no thread area was at hand */
    pt_u64 recycled_segments;
    pt_u64 growth_failures;
    pt_i32 growth_errno; /* of the last failure; ENOSYS: a sandbox, in which the file may not grow */
    pt_u32 pad0;
    pt_u64 early_allocations; /* heap calls answered before the library was ready; not in any total */
    /* Of a distributed program, as the environment said when the process image started, or the
     * process put into it since; 0 = none. */
    pt_u32 rank_plus_1;
    pt_u32 local_rank_plus_1; /* on this host */
    pt_u32 world_size;
    /* PROFTRACE_ variables that had no effect, separated by blanks: NAME of what is no option, NAME=value of a value
     * that was not understood. Values are cut and hold printable characters only; what does not fit is left out. */
    char ignored_options[PT_IGNORED_OPTIONS_BYTES];
    struct pt_python_header python;
    pt_u64 minute_ns;   /* length of the intervals that MINUTES segments tell of; 0 = there are none */
    pt_u64 grown_bytes; /* end of what the file was surely made long for; 0 = an older file: file_bytes says it */
    pt_u8 reserved[PT_HEADER_BYTES - 592 - PT_IGNORED_OPTIONS_BYTES - sizeof(struct pt_python_header)];
    pt_u8 head[4096 - PT_HEADER_BYTES]; /* what the head holds besides, see PT_HEAD_BYTES */
};
_Static_assert(sizeof(struct pt_file_header) == 4096, "on disk");

/* A file shorter than this has lost its end. Not file_bytes: that is raised before the file is made longer, which a
 * kill or a full disk may prevent. */
static inline pt_u64 pt_least_file_bytes(const struct pt_file_header *header)
{
    return header->grown_bytes ? header->grown_bytes : header->file_bytes;
}

/* The head: the first two pages, which are all that a small process has. After the header they hold the text, the
 * first definitions, the first records and the first area of a thread up to PT_AREA_SMALL_BYTES; each is found by the
 * offsets in the header and in that area. */
#define PT_HEAD_BYTES 8192u
#define PT_HEAD_AREA_AT (PT_HEAD_BYTES - PT_AREA_SMALL_BYTES)

/* ---- the file of small processes: <run>/small-<version>-<bytes of the schema>.pts ----
 * A page with this header, the schema, then heads, on page boundaries, each appended by one write. A head belongs to a
 * process that has not needed more, or had not at first: it is void when the run has a file of that pid and trace_id,
 * because into that it was copied. A page with which no head begins (magic) is half of one, or of a process that was
 * killed at its start. */
#define PT_SMALL_PREFIX "small-"
#define PT_SMALL_SUFFIX ".pts"
#define PT_SMALL_MAGIC "PROFTSML"
struct pt_small_header {
    char magic[8];
    pt_u32 format_version;
    pt_u32 heads_offset; /* the first head */
    pt_u32 schema_offset;
    pt_u32 schema_bytes;
};

#define PT_OPTION_IO (1u << 0)
#define PT_OPTION_STDIO (1u << 1)
#define PT_OPTION_STACKS (1u << 2)
#define PT_OPTION_LAYERS (1u << 3) /* IO, STDIO and those below say what was recorded; not set = everything was */
#define PT_OPTION_LOCKS (1u << 4)
#define PT_OPTION_WAITS (1u << 5)
#define PT_OPTION_NET (1u << 6)
#define PT_OPTION_MOVED                                                                                                \
    (1u << 7) /* only in a void head of the file of small processes: its process has a file of its own */

#define PT_CLOCK_SET_LEAST_NS 1000000000u /* less is not told from a header that took its time to be written */
#define PT_OPTION_CLOCK_SET                                                                                            \
    (1u << 8) /* wall time minus CLOCK_MONOTONIC is another one than in session.bin, in the same time namespace */
#define PT_OPTION_HEAP_HIDDEN (1u << 9)     /* another object's malloc comes before ours, and may not pass calls on */
#define PT_OPTION_HEAP_TOO_LATE (1u << 10)  /* loaded when the program had its malloc: no call of it comes to us */
#define PT_OPTION_HEAP_LINKED_IN (1u << 11) /* the program has a malloc of its own, and may not pass calls on */

/* The text page: NUL-terminated strings one after another, in this order. CWD is the directory that relative names are
 * of: where the program began; a child of fork has its parent's. argv follows as the last: argc strings. */
enum pt_text_item { PT_TEXT_EXE, PT_TEXT_CWD, PT_TEXT_STAGE, PT_TEXT_HOST, PT_TEXT_COMM, PT_TEXT_ARGC, PT_TEXT_ARGV };
#define PT_TEXT_BYTES 4096u /* an argv that does not fit is cut; ARGC ("12") is the true count */

/* ---- segments ---- */
#define PT_SEGMENT_MAGIC 0x47455350u /* "PSEG" */
enum pt_segment_type { PT_SEGMENT_THREAD = 1, PT_SEGMENT_BLOCKS = 2, PT_SEGMENT_DEFS = 3, PT_SEGMENT_MINUTES = 4 };

struct pt_segment { /* 64 bytes, first in each segment; magic is stored last */
    pt_u32 magic;
    pt_u16 type;
    pt_u16 flags;
    pt_u64 bytes; /* including this header */
    pt_u32 slot;  /* thread slot it belongs to */
    pt_u32 pad0;
    pt_u64 serial; /* BLOCKS: counts uses of ring space; a recycled segment gets a new one */
    pt_u64 reserved[4];
};
_Static_assert(sizeof(struct pt_segment) == 64, "on disk");

/* ---- records: 32 bytes, and heap units: 16 bytes ---- */
struct pt_record {
    pt_u64 stamp;    /* ticks << 12 | generation; stored last */
    pt_u32 aux;      /* SPAN: duration (pt_duration_ticks); POINT: the event's AUX field */
    pt_u32 tag_kind; /* tag << 8 | event id */
    union {
        pt_u64 words[2];
        pt_u8 payload[16];
    };
};
_Static_assert(sizeof(struct pt_record) == 32, "on disk");

#define PT_TAG_NONE 0xffffffu /* tag of "no descriptor" */

struct pt_unit16 {
    pt_u64 head; /* address << 16 | kind << 12 | generation; stored last */
    pt_u64 body; /* size, or ticks in a clock unit */
};
_Static_assert(sizeof(struct pt_unit16) == 16, "on disk");
#define PT_UNIT_CLOCK 1u        /* kind of a unit that only carries the time */
#define PT_UNIT_CLOCK_EVERY 16u /* the first unit of every 16 */
#define PT_UNIT_CLOCK_MASK (PT_UNIT_CLOCK_EVERY * sizeof(struct pt_unit16) - 1) /* 0 in the place of such a unit */

/* A duration in 32 bits: 27 bits of mantissa, 5 of exponent. Error below 2^-27, no limit that a process could reach. */
static inline pt_u32 pt_duration_pack(pt_u64 ticks)
{
    if (ticks < (1u << 27))
        return (pt_u32)ticks;
    const pt_u32 shift = (pt_u32)(64 - __builtin_clzll(ticks)) - 27;
    if (shift > 31)
        return 0xffffffffu;
    return shift << 27 | (pt_u32)(ticks >> shift);
}

static inline pt_u64 pt_duration_ticks(pt_u32 packed)
{
    return (pt_u64)(packed & ((1u << 27) - 1)) << (packed >> 27);
}

/* ---- the thread area: a THREAD segment ---- */
enum pt_buffer_id { PT_BUFFER_HEAP = 0, PT_BUFFER_RECORDS = 1, PT_BUFFER__COUNT = 2 };

struct pt_raw_buffer {
    pt_i32 offset; /* of the buffer, from the start of the segment; 0 = this thread has none. Below 0: in the head */
    pt_u32 bytes;
    pt_u64 sequence;       /* sequence << 12 | generation of what lies in the buffer now: one store is the reset */
    pt_u64 flushed_events; /* events given to blocks so far (committed or dropped) */
    pt_u64 reserved;
};

struct pt_totals { /* one per event row */
    pt_u64 calls;
    pt_u64 errors;
    pt_u64 bytes;
    pt_u64 ticks;
};

#define PT_TOTALS_ROWS 160
#define PT_HEAP_CLASSES 80

struct pt_heap_class {
    pt_u64 count;
    pt_u64 bytes;
};

#define PT_COUNTER_WORDS 10u /* of an area, from heap_frees to counted_bytes */

struct pt_thread_area { /* PT_THREAD_HEADER_BYTES, then buffers and definitions */
    struct pt_segment segment;
    pt_u32 tid;  /* thread that lives here now; 0 = none yet */
    pt_u32 life; /* counts the threads that lived here, from 1 */
    pt_u64 start_ticks;
    struct pt_raw_buffer raw[PT_BUFFER__COUNT];
    pt_i32 defs_offset; /* likewise */
    pt_u32 defs_bytes;
    pt_u64 totals_seq; /* see rule 3 */
    pt_u64 drops[32];  /* events by enum pt_drop */

    /* Heap counters, exact in both modes, cumulative over all lives. Allocations = sum over classes of
     * spilled.count + (packed >> 40), bytes = spilled.bytes + (packed & (2^40 - 1)). */
    pt_u64 heap_packed[PT_HEAP_CLASSES];
    pt_u64 heap_frees;    /* blocks released, realloc's old blocks included */
    pt_u64 heap_failures; /* allocations that returned NULL */
    /* Counted without an event (PT_KIND_meta_read_dir, PT_KIND_stdio_char): added to the row's calls and bytes. */
    pt_u64 counted_calls[4];
    pt_u64 counted_bytes[4];

    /* From here on not in a head that is alone in the file of small processes (PT_AREA_SMALL_BYTES). In format 1 these
     * two lay in front of the fields that now precede them. */
    struct pt_heap_class heap_spilled[PT_HEAP_CLASSES];
    struct pt_totals totals[2][PT_TOTALS_ROWS];
    pt_u64 came_between[PT_COUNTER_WORDS]; /* to be added to the words from heap_frees on */
};
#define PT_AREA_SMALL_BYTES ((pt_u32) __builtin_offsetof(struct pt_thread_area, heap_spilled))
#define PT_THREAD_HEADER_BYTES 16384u
_Static_assert(sizeof(struct pt_thread_area) <= PT_THREAD_HEADER_BYTES, "on disk");
_Static_assert(PT_AREA_SMALL_BYTES ==
                   __builtin_offsetof(struct pt_thread_area, heap_frees) + PT_COUNTER_WORDS * sizeof(pt_u64),
               "the small area ends with them");

/* Tids from this one on are no threads of the host, but slots that hold what devices reported. Their records lie in
 * the order in which they became known, not in that of time. */
#define PT_DEVICE_TID 0x80000000u

enum pt_counted { PT_COUNTED_READ_DIR, PT_COUNTED_STDIO_READ_CHAR, PT_COUNTED_STDIO_WRITE_CHAR };

/* Heap size classes: 16-byte steps to 1 KiB, then powers of two. Class of a size, and the largest size of a class. */
static inline pt_u64 pt_heap_class_of(pt_u64 size_bytes)
{
    if (size_bytes <= 1024)
        return (size_bytes + 15) >> 4;
    const pt_u64 index = 65 + (pt_u64)(63 - __builtin_clzll(size_bytes)) - 10;
    return index < PT_HEAP_CLASSES ? index : PT_HEAP_CLASSES - 1;
}

static inline pt_u64 pt_heap_class_limit(pt_u32 index)
{
    if (index <= 64)
        return (pt_u64)index * 16;
    return index == PT_HEAP_CLASSES - 1 ? ~0ull : (2ull << (index - 65 + 10)) - 1;
}

/* ---- blocks: in BLOCKS segments, 64-byte aligned, first at offset 64 ---- */
#define PT_BLOCK_MAGIC 0x4b4c4250u /* "PBLK" */
#define PT_BLOCK_ALIGN 64u

enum pt_block_coding {
    PT_CODING_RAW = 0,     /* units or records as they lay in the buffer; the generation is block.generation */
    PT_CODING_COLUMNS = 1, /* columns (codec.h) */
    PT_CODING_ZSTD = 2,    /* columns in one zstd frame */
};

struct pt_block { /* commit is stored last */
    pt_u32 commit;
    pt_u32 stored_bytes;  /* payload bytes that follow */
    pt_u32 encoded_bytes; /* bytes of the columns, or of the raw units */
    pt_u32 events;        /* events in the block; clock units and skipped ones not counted */
    pt_u8 coding;
    pt_u8 buffer; /* enum pt_buffer_id */
    pt_u16 generation;
    pt_u32 slot;
    pt_u32 tid;
    pt_u32 crc; /* CRC-32C of the payload, then of this header with commit and crc zero */
    pt_u64 sequence;
    pt_u64 first_event;
    pt_u64 first_ticks; /* bounds of the events' times, for merging and filtering */
    pt_u64 last_ticks;
    pt_u32 skipped; /* units that another generation had claimed: PT_DROP_in_flight */
    pt_u32 life;
};
_Static_assert(sizeof(struct pt_block) == 72, "on disk");

/* ---- definitions: 8-byte aligned, in the tail of a thread area or in DEFS segments after the segment header ---- */
#define PT_DEF_MAGIC 0x46454450u /* "PDEF" */
enum pt_def_type {
    PT_DEF_STRING = 1,     /* payload: the bytes */
    PT_DEF_STACK = 2,      /* payload: frames, innermost first, each zigzag LEB128 of the difference to the one before.
                              A frame is a return address, or in Python pt_python_frame(): python.h */
    PT_DEF_MODULE = 3,     /* payload: struct pt_def_module, build-id, path */
    PT_DEF_THREAD_END = 4, /* payload: struct pt_def_thread_end, rows */
    PT_DEF_UNTRACED = 5,   /* id: string id of the program; payload: reason as text */
};

struct pt_def {
    pt_u64 commit; /* PT_DEF_MAGIC | bytes << 32; bytes include this header; stored last */
    pt_u32 id;     /* STRING, STACK, UNTRACED: the id; MODULE: a running number */
    pt_u16 type;
    pt_u16 flags;
    pt_u32 crc; /* CRC-32C of the payload */
    pt_u32 payload_bytes;
    pt_u64 ticks; /* when it was defined */
};
_Static_assert(sizeof(struct pt_def) == 32, "on disk");

struct pt_def_module {
    pt_u64 start; /* mapped range */
    pt_u64 end;
    pt_u64 load_bias; /* address in memory minus address in the ELF file */
    pt_u32 build_id_bytes;
    pt_u32 path_bytes;
};

/* A thread that ended, written when another takes over its slot: the slot's totals so far (cumulative over its lives).
 */
struct pt_def_thread_end {
    pt_u32 slot;
    pt_u32 life;
    pt_u32 tid;
    pt_u32 rows; /* followed by this many struct pt_def_thread_row */
    pt_u64 heap_allocs;
    pt_u64 heap_bytes;
    pt_u64 heap_frees;
    pt_u64 last_ticks;
};

struct pt_def_thread_row {
    pt_u64 row;
    struct pt_totals totals;
};

/* ---- totals by minute: 8-byte aligned, in MINUTES segments after the segment header ----
 * A row says what one thread's totals grew by in an interval of whole minutes (of pt_file_header.minute_ns, counted
 * from 0 of CLOCK_MONOTONIC). A call belongs to the minute in which it ended. Behind the header: varints (LEB128) first
 * minute, how many minutes, sequence (see below), then either 0, allocations, bytes, releases, calls and bytes of each
 * of PT_COUNTED_ROWS: what is counted without events, or for each kind that grew: 1 + its row in the totals minus the
 * row before (-1 at first), calls << 2 | errors != 0 | (bytes != 0) << 1, errors and bytes where they are not 0, ticks.
 * `sequence` is that of the records buffer that the row was made of: it counts only if that is not above totals_seq,
 * as the reader counts the events of later ones itself. What the totals have beyond all rows belongs to the time since.
 */
#define PT_MINUTES_MAGIC 0x4e4du /* "MN" */
struct pt_minutes_row {
    pt_u32 commit; /* PT_MINUTES_MAGIC | bytes << 16; bytes include this header and what aligns the next; stored last */
    pt_u32 crc;    /* CRC-32C of payload_bytes and the payload */
    pt_u32 payload_bytes;
};
_Static_assert(sizeof(struct pt_minutes_row) == 12, "on disk");
#define PT_MINUTES_COUNTERS 0u
#define PT_COUNTED_ROWS 3u
#define PT_MINUTES_ROW_BYTES 2048u /* the longest row */

/* ---- the session file: <run>/session.bin, shared by all processes of a run ---- */
#define PT_SESSION_FILE "session.bin"
#define PT_SESSION_MAGIC "PROFTSES"
#define PT_MAX_REFUSALS 32u
enum pt_refusal {
#define REFUSAL(name, why) PT_REFUSAL_##name,
#include "refusals.def"
#undef REFUSAL
    PT_REFUSAL__COUNT
};
struct pt_session_page {
    char magic[8];
    pt_u32 format_version;
    pt_u32 made_by_launcher; /* 1 = there was one, which wrote run.json, too */
    pt_u64 budget_bytes;
    pt_u32 reserved_pages; /* atomic: what all processes have allocated */
    pt_u32 pad1;
    pt_u64 start_realtime_ns;
    pt_u64 start_monotonic_ns;
    pt_u64 processes;                /* atomic: trace files made */
    char boot_id[40];                /* /proc/sys/kernel/random/boot_id of who made the session, not of all */
    pt_u64 refused[PT_MAX_REFUSALS]; /* atomic: processes that were not recorded, by enum pt_refusal */
    pt_u32 minutes_pages;            /* atomic: of reserved_pages, those of MINUTES segments */
    pt_u32 ring_pages;               /* atomic: those of BLOCKS segments in rings */
    pt_u64 time_namespace;           /* inode of /proc/self/ns/time of who made the session; 0 = unknown */
    pt_u8 reserved[4096 - 112 - PT_MAX_REFUSALS * 8];
};
_Static_assert(sizeof(struct pt_session_page) == 4096 && PT_REFUSAL__COUNT <= PT_MAX_REFUSALS, "on disk");

/* ---- checksum ---- */
/* CRC-32C (Castagnoli), by the SSE4.2 instruction where the machine has it: 8 bytes in 3 cycles. */
__attribute__((target("sse4.2"))) static inline pt_u32 pt_crc32c_hw(pt_u32 crc, const void *data, pt_u64 bytes)
{
    const pt_u8 *p = (const pt_u8 *)data;
    pt_u64 wide = crc;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        pt_u64 word;
        __builtin_memcpy(&word, p, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (pt_u32)wide;
    for (; bytes; bytes--, p++)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}

static inline pt_u32 pt_crc32c_sw(pt_u32 crc, const void *data, pt_u64 bytes)
{
    const pt_u8 *p = (const pt_u8 *)data;
    for (; bytes; bytes--, p++) {
        crc ^= *p;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0x82f63b78u & -(crc & 1));
    }
    return crc;
}

static inline pt_u32 pt_crc32c(pt_u32 crc, const void *data, pt_u64 bytes)
{
    return ~(__builtin_cpu_supports("sse4.2") ? pt_crc32c_hw(~crc, data, bytes) : pt_crc32c_sw(~crc, data, bytes));
}

/* The checksum of a block: payload, then header with commit and crc zero. */
static inline pt_u32 pt_block_crc(const struct pt_block *block, const void *payload)
{
    struct pt_block copy = *block;
    copy.commit = 0;
    copy.crc = 0;
    return pt_crc32c(pt_crc32c(0, payload, block->stored_bytes), &copy, sizeof copy);
}

#endif
