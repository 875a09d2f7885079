/* SPDX-License-Identifier: MIT
 *
 * file_results.h - how a file was used, and from that metrics and the table of files.
 */
#ifndef PT_ANALYSIS_FILE_RESULTS_H
#define PT_ANALYSIS_FILE_RESULTS_H

#include "analysis.h"
#include "coverage.h"

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
    bool is_stream; /* pipe, socket, device: nothing can be read from it twice */
    pt_u64 open_ns;
    pt_u64 small_reads, small_read_ns, small_read_bytes, small_around_ns;
    struct pt_layer_use fd, stdio;
};

/* Time in calls on a file. */
static inline pt_u64 pt_file_total_ns(const struct pt_file_use *f)
{
    return f->open_ns + f->fd.read_ns + f->fd.write_ns + f->stdio.read_ns + f->stdio.write_ns;
}

/* io.groups: absent when no two files differ in numbers only. */
void pt_file_groups(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_file_use *files, size_t n);
/* Sorts the files. */
void pt_file_results(struct pt_profile *profile, struct pt_file_use *files, size_t n);

#endif
