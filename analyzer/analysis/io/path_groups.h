/* SPDX-License-Identifier: MIT
 *
 * io/path_groups.h - files whose names differ in their numbers only: how long their transfers took, and a table of
 * them.
 */
#ifndef PT_ANALYSIS_IO_PATH_GROUPS_H
#define PT_ANALYSIS_IO_PATH_GROUPS_H

#include "profile/histogram.h"
#include "profile/metrics.h"
#include "file_use.h"

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

/* io.groups: absent when no two files differ in numbers only; io.read_again: what was read again by group, a file alone
 * is one, too. And the seconds of the groups that are data: of all threads, and of main threads. */
void pt_file_groups_table(struct pt_metrics *metrics, struct pt_scope scope, const struct pt_file_groups *groups,
                          const struct pt_file_use *files, size_t n);

#endif
