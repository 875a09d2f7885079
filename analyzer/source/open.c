/* SPDX-License-Identifier: MIT
 *
 * open.c - Owns: the order in which a trace file is checked, scanned and indexed. Threads: one per file. Never: trusts
 * a number in the header; reports damage after it as an error: that is counted.
 */
#include "open.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/text/path.h"
#include "index.h"
#include "scan.h"
#include "small_heads.h"

enum { MAX_HEADER_BYTES = 16 << 20 };

/* A run of thousands of processes has more files than a process may have open, usually 1024: the first ones stay
 * open; more than half of the descriptors are left for other uses, up to 32 files of an export at once. */
static void close_where_scarce(struct pt_trace_file *file)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)file->fd < limit.rlim_cur / 8 * 3)
        return;
    pt_trace_file_share(file);
}

/* Made, and perhaps extended, by a process that ended before it wrote the first word. An empty file with another
 * name than a trace's may be anything. */
static bool is_blank(const char *name, const void *magic, pt_u64 got)
{
    static const char zeros[8];
    return got ? got >= 8 && !memcmp(magic, zeros, 8) : pt_ends_with(name, PT_FILE_SUFFIX);
}

/* The file of small processes has its version at the same place. */
static bool has_our_magic(const struct pt_file_header *h)
{
    return !memcmp(h->magic, PT_FILE_MAGIC, 8) || !memcmp(h->magic, PT_SMALL_MAGIC, 8);
}

static bool is_sane(const struct pt_file_header *h)
{
    return h->format_version >= 1 && h->header_bytes >= sizeof *h && h->header_bytes <= MAX_HEADER_BYTES &&
           h->header_bytes % sizeof(pt_u64) == 0 && h->clock_shift < 32 &&
           (h->clock_source == PT_CLOCK_TSC || h->clock_source == PT_CLOCK_MONOTONIC);
}

static int check_header(struct pt_trace_file *file, struct pt_error *err)
{
    struct pt_file_header whole = {0};
    const struct pt_file_header *h = &whole;
    errno = 0;
    const pt_u64 got = pt_trace_file_read(file, 0, &whole, sizeof whole);
    if (got < sizeof whole && errno)
        return pt_fail_code(err, 3, "cannot be read: %s", strerror(errno));
    if (is_blank(file->name, h->magic, got))
        return pt_fail_code(err, 3, "not set up: the process ended before its trace began");
    if (got < 8 || !has_our_magic(h))
        return pt_fail_code(err, 3, "not a proftrace file: name a run directory, or a " PT_FILE_SUFFIX " file of one");
    if (got < 12 || h->format_version > PT_FORMAT_VERSION)
        return pt_fail_code(err, 3, "format %u is newer than this proftrace reads (%u): use a newer proftrace",
                            h->format_version, PT_FORMAT_VERSION);
    if (!memcmp(h->magic, PT_SMALL_MAGIC, 8))
        return pt_fail_code(err, 3, "damaged header");
    if (got < sizeof *h)
        return pt_fail_code(err, 3, "cut off inside its header (%llu bytes)", (unsigned long long)got);
    if (!is_sane(h))
        return pt_fail_code(err, 3, "damaged header");
    const size_t used = offsetof(struct pt_file_header, reserved);
    file->header = memcpy(pt_arena_alloc(&file->arena, used), h, used);
    return 0;
}

/* The text page ends in zeros, of which some may be empty arguments. */
static pt_u32 used_bytes(struct pt_trace_file *file, pt_u32 bytes)
{
    file->text_bytes = bytes;
    const long argc = atol(pt_trace_file_text(file, PT_TEXT_ARGC));
    pt_u32 used = bytes;
    while (used && !file->text[used - 1])
        used--;
    const pt_u32 zeros = bytes - used, most = argc > 0 && argc < bytes ? (pt_u32)argc + 1 : 1;
    return used + (zeros < most ? zeros : most);
}

static void read_text_and_schema(struct pt_trace_file *file)
{
    const struct pt_file_header *h = file->header;
    const pt_u32 text_bytes = h->text_bytes < PT_TEXT_BYTES ? h->text_bytes : PT_TEXT_BYTES;
    char text[PT_TEXT_BYTES + 1] = "";
    file->text = text;
    file->text_bytes = used_bytes(file, (pt_u32)pt_trace_file_scan(file, h->text_offset, text, text_bytes));
    file->text = pt_arena_text(&file->arena, text, file->text_bytes);
    if (file->base) {
        file->schema = pt_small_heads_schema(file->fd);
        return;
    }
    const pt_u32 schema_bytes = h->schema_bytes <= PT_MAX_SCHEMA_BYTES ? h->schema_bytes : 0;
    file->schema = pt_malloc(schema_bytes + 1u);
    file->schema[pt_trace_file_scan(file, h->schema_offset, file->schema, schema_bytes)] = 0;
}

static int load(struct pt_trace_file *file, struct pt_error *err)
{
    struct stat status;
    if (fstat(file->fd, &status) < 0)
        return pt_fail_code(err, 3, "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return pt_fail_code(err, 3, "not a regular file");
    file->bytes = (pt_u64)status.st_size;
    if (pt_small_head_of(file->path)) {
        file->base = pt_small_heads_offset(file->fd, file->path);
        if (!file->base || file->base >= file->bytes || file->bytes - file->base < PT_HEAD_BYTES)
            return pt_fail_code(err, 3, "there is no such process in this file");
        file->bytes = PT_HEAD_BYTES;
    }
    file->device = status.st_dev;
    file->inode = status.st_ino;
    file->uid = status.st_uid;
    if (check_header(file, err) < 0)
        return -1;
    /* Once more: a live process may have made it longer before its header was read. */
    if (!file->base && fstat(file->fd, &status) == 0)
        file->bytes = (pt_u64)status.st_size;
    read_text_and_schema(file);
    file->truncated |= pt_least_file_bytes(file->header) > file->bytes;
    pt_scan_segments(file);
    pt_index_blocks(file);
    close_where_scarce(file);
    return 0;
}

struct pt_trace_file *pt_trace_file_open(const char *path, struct pt_error *err)
{
    struct pt_trace_file *file = pt_calloc(1, sizeof *file);
    file->path = pt_strdup(path);
    file->name = pt_base_name(file->path);
    file->fd = pt_trace_file_descriptor(path);
    if (file->fd < 0)
        pt_fail_code(err, 3, "cannot open %s: %s", path, strerror(errno));
    else if (load(file, err) < 0)
        pt_error_context(err, "%s", path);
    else
        return file;
    pt_trace_file_close(file);
    return NULL;
}

bool pt_trace_file_is_blank(const char *path)
{
    char magic[8] = "";
    PT_AUTO(pt_closep) int fd = pt_trace_file_descriptor(path);
    const ssize_t got = fd < 0 ? -1 : pread(fd, magic, sizeof magic, 0);
    return got >= 0 && is_blank(path, magic, (pt_u64)got);
}
