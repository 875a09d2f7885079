/* SPDX-License-Identifier: MIT
 *
 * stack_tree.h - stacks as numbers: equal beginnings are stored once.
 */
#ifndef PT_CPU_PROFILE_STACK_TREE_H
#define PT_CPU_PROFILE_STACK_TREE_H

#include "cpu_file/write.h"
#include "util/map.h"
#include "unwind.h"

struct pt_stack_tree {
    struct pt_map places;         /* module and address -> number from 1 */
    struct pt_map nodes;          /* parent and place -> number from 1 */
    struct pt_chunk_buffer fresh; /* nodes that are not in the file yet */
    pt_u64 lost_nodes;            /* there was no room for them: their stacks end early */
};

/* `in_kernel`: the thread was in a call of the kernel's. Returns the number of its innermost frame's node. */
pt_u32 pt_stack_tree_add(struct pt_stack_tree *tree, const struct pt_unwound *stack, bool in_kernel);
void pt_stack_tree_fini(struct pt_stack_tree *tree);

#endif
