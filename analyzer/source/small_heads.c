/* SPDX-License-Identifier: MIT
 *
 * small_heads.c - Owns: which processes have their head in the file of small processes, and where. Threads: any,
 * nothing is kept. Never: trusts a number in the file.
 */
#include "small_heads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

const char *pt_small_head_of(const char *path)
{
    const char *mark = strrchr(path, '#');
    const size_t suffix = strlen(PT_SMALL_SUFFIX), n = mark ? (size_t)(mark - path) : 0;
    const bool is_head =
        n > suffix && mark[1] >= '0' && mark[1] <= '9' && !memcmp(mark - suffix, PT_SMALL_SUFFIX, suffix);
    return is_head ? mark : NULL;
}

static bool read_header(int fd, struct pt_small_header *ret_header)
{
    return pread(fd, ret_header, sizeof *ret_header, 0) == (ssize_t)sizeof *ret_header &&
           !memcmp(ret_header->magic, PT_SMALL_MAGIC, sizeof ret_header->magic) &&
           ret_header->format_version <= PT_FORMAT_VERSION && ret_header->heads_offset >= PT_PAGE_BYTES &&
           ret_header->heads_offset % PT_PAGE_BYTES == 0;
}

pt_u64 pt_small_heads_offset(int fd, const char *path)
{
    struct pt_small_header header;
    const pt_u64 page = strtoull(pt_small_head_of(path) + 1, NULL, 10);
    return read_header(fd, &header) && page < 1ull << 40 ? header.heads_offset + page * PT_PAGE_BYTES : 0;
}

char *pt_small_heads_schema(int fd)
{
    struct pt_small_header header;
    const bool is_there = read_header(fd, &header) && header.schema_bytes <= PT_MAX_SCHEMA_BYTES;
    char *schema = pt_calloc(1, (is_there ? header.schema_bytes : 0) + 1u);
    if (is_there && pread(fd, schema, header.schema_bytes, header.schema_offset) < 0)
        *schema = 0;
    return schema;
}

bool pt_small_heads_are_readable(int fd)
{
    struct pt_small_header header;
    return read_header(fd, &header);
}

/* The next page that does not lie in a hole: a file of 4 KiB may be a terabyte long. */
static pt_u64 next_page(int fd, const struct pt_small_header *header, pt_u64 page)
{
    const off_t at = (off_t)(header->heads_offset + page * PT_PAGE_BYTES), data = lseek(fd, at, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? 1ull << 40 : page; /* no data any more; a file system without holes */
    return page + (pt_u64)(data - at) / PT_PAGE_BYTES;
}

bool pt_small_heads_next(int fd, pt_u64 *page, pt_u64 *ret_page, struct pt_file_header *ret_head)
{
    struct pt_small_header header;
    if (!read_header(fd, &header))
        return false;
    for (;; ++*page) {
        const off_t at = (off_t)(header.heads_offset + *page * PT_PAGE_BYTES);
        if (pread(fd, ret_head, sizeof *ret_head, at) != (ssize_t)sizeof *ret_head)
            return false;
        if (!memcmp(ret_head->magic, PT_FILE_MAGIC, sizeof ret_head->magic))
            break;
        *page = next_page(fd, &header, *page + 1) - 1;
    }
    *ret_page = *page;
    *page += PT_HEAD_BYTES / PT_PAGE_BYTES;
    return true;
}
