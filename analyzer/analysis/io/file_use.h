/* SPDX-License-Identifier: MIT
 *
 * io/file_use.h - how a file was used.
 */
#ifndef PT_ANALYSIS_IO_FILE_USE_H
#define PT_ANALYSIS_IO_FILE_USE_H

#include <stdbool.h>

#include "file_coverage.h"

struct pt_layer_use { /* descriptors, or stdio */
    pt_u64 reads, read_bytes, read_ns;
    pt_u64 around_ns; /* short gaps between reads */
    pt_u64 writes, write_bytes, write_ns;
    struct pt_coverage coverage;
    pt_u32 opens;
};

struct pt_file_use {
    const char *path; /* interned; NULL = the files above MAX_FILES */
    pt_u32 stage;
    pt_u32 failed_opens;
    pt_u32 group;       /* among the path groups, plus 1; 0 = there are too many */
    bool is_unseekable; /* pipe, socket, device: nothing can be read from it twice */
    pt_u64 open_ns;
    pt_u64 small_reads, small_read_ns, small_read_bytes, small_around_ns;
    struct pt_layer_use fd, stdio;
};

/* Time in calls on a file. */
static inline pt_u64 pt_file_total_ns(const struct pt_file_use *f)
{
    return f->open_ns + f->fd.read_ns + f->fd.write_ns + f->stdio.read_ns + f->stdio.write_ns;
}

#endif
