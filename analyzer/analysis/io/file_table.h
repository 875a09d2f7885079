/* SPDX-License-Identifier: MIT
 *
 * io/file_table.h - which row of a table by file and stage an event belongs to. Analyses have rows of their own, this
 * has their numbers, and the way from a path id to them.
 */
#ifndef PT_ANALYSIS_IO_FILE_TABLE_H
#define PT_ANALYSIS_IO_FILE_TABLE_H

#include "profile/profile.h"
#include "util/id_map.h"

struct pt_file_table {
    const struct pt_profile *profile;
    pt_u32 most; /* rows; later files share one without a name */
    /* What has a row where that is not the file itself: its name, interned. */
    const char *(*group)(void *context, const char *path);
    void *context;
    pt_u32 n;
    struct pt_map by_name;  /* stage, name -> number, plus 1 */
    struct pt_id_map by_id; /* process, path id -> the same */
};

struct pt_file_row {
    pt_u32 number;    /* from 0 */
    bool is_new;      /* its number is new; only then the others are set */
    const char *name; /* NULL = of files without one, or beyond the limit */
    pt_u32 stage;
};

/* False = the path is not known. */
bool pt_file_row_of(struct pt_file_table *table, struct pt_process *process, pt_u32 path, pt_u32 dir_path,
                    struct pt_file_row *ret_row);
/* The same, of a file that has a row already; makes none. */
bool pt_file_row_find(struct pt_file_table *table, struct pt_process *process, pt_u32 path,
                      struct pt_file_row *ret_row);
/* As pt_file_row_of; files of unknown paths have a row of their own. */
struct pt_file_row pt_file_row_or_other(struct pt_file_table *table, struct pt_process *process, pt_u32 path,
                                        pt_u32 dir_path);
void pt_file_table_fini(struct pt_file_table *table);

#endif
