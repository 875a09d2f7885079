/* SPDX-License-Identifier: MIT
 *
 * Owns: numbers of files by stage. Threads: one. Never: keeps a path that is relative to a directory by its id.
 */
#include "file_table.h"
#include "util/hash.h"

static struct pt_file_row row_named(struct pt_file_table *table, pt_u32 stage, const char *name)
{
    if (table->n >= table->most && !pt_map_find(&table->by_name, pt_hash_pair((uintptr_t)name, stage)))
        name = NULL;
    pt_u64 *slot = pt_map_at(&table->by_name, pt_hash_pair((uintptr_t)name, stage));
    const bool is_new = !*slot;
    if (is_new)
        *slot = ++table->n;
    return (struct pt_file_row){(pt_u32)*slot - 1, is_new, name, stage};
}

bool pt_file_row_of(struct pt_file_table *table, struct pt_process *process, pt_u32 path, pt_u32 dir_path,
                    struct pt_file_row *ret_row)
{
    const pt_u64 known = path && !dir_path ? pt_id_map_get(&table->by_id, process->index, path) : 0;
    if (known) {
        *ret_row = (struct pt_file_row){.number = (pt_u32)known - 1};
        return true;
    }
    const char *text = path ? pt_process_absolute_path(process, path, dir_path) : NULL;
    if (!text)
        return false;
    *ret_row = row_named(table, pt_profile_stage_of(table->profile, process),
                         table->group ? table->group(table->context, text) : text);
    if (!dir_path)
        *pt_id_map_at(&table->by_id, process->index, path) = ret_row->number + 1ull;
    return true;
}

bool pt_file_row_find(struct pt_file_table *table, struct pt_process *process, pt_u32 path, struct pt_file_row *ret_row)
{
    pt_u64 known = path ? pt_id_map_get(&table->by_id, process->index, path) : 0;
    if (path && !known) {
        const char *text = pt_process_absolute_path(process, path, 0);
        const char *name = table->group ? table->group(table->context, text) : text;
        const pt_u32 stage = pt_profile_stage_of(table->profile, process);
        const pt_u64 *slot = pt_map_find(&table->by_name, pt_hash_pair((uintptr_t)name, stage));
        known = slot ? *slot : 0;
    }
    *ret_row = (struct pt_file_row){.number = (pt_u32)known - 1};
    return known;
}

struct pt_file_row pt_file_row_or_other(struct pt_file_table *table, struct pt_process *process, pt_u32 path,
                                        pt_u32 dir_path)
{
    struct pt_file_row row;
    if (!pt_file_row_of(table, process, path, dir_path, &row))
        row = row_named(table, pt_profile_stage_of(table->profile, process), NULL);
    return row;
}

void pt_file_table_fini(struct pt_file_table *table)
{
    pt_map_fini(&table->by_name);
    pt_id_map_fini(&table->by_id);
}
