/* SPDX-License-Identifier: MIT
 *
 * file_results.h - how a file was used, and from that metrics and the table of files.
 */
#ifndef PT_ANALYSIS_IO_FILE_RESULTS_H
#define PT_ANALYSIS_IO_FILE_RESULTS_H

#include "analysis/analysis.h"
#include "facts/file_coverage.h"
#include "profile/histogram.h"

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
    pt_u32 group;   /* among the path groups, plus 1; 0 = there are too many */
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

/* Files of a stage whose names differ in their numbers only, and how long their transfers took. */
struct pt_file_groups {
    PT_VEC(struct pt_histogram *); /* ns */
    struct pt_map by_path;         /* stage, interned group -> index, plus 1 */
    struct pt_intern paths;
};

/* The group of a path, plus 1; 0 when there are too many. */
pt_u32 pt_file_groups_of(struct pt_file_groups *groups, pt_u32 stage, const char *path);
static inline void pt_file_groups_add(struct pt_file_groups *groups, pt_u32 group, pt_i64 duration_ns)
{
    if (group)
        pt_histogram_add(groups->items[group - 1], (pt_u64)duration_ns);
}
void pt_file_groups_fini(struct pt_file_groups *groups);

/* io.groups: absent when no two files differ in numbers only. */
void pt_file_groups_table(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_file_groups *groups,
                          const struct pt_file_use *files, size_t n);
/* Sorts the files. */
void pt_file_results(struct pt_profile *profile, const struct pt_file_groups *groups, struct pt_file_use *files,
                     size_t n);

#endif
