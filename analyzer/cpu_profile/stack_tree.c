/* SPDX-License-Identifier: MIT
 *
 * stack_tree.c - Owns: the numbers of frames. Threads: main only. Never: grows without an end.
 */
#include "stack_tree.h"

#include <stdlib.h>

#define ADDRESS_BITS 48
#define MODULES_MAX 0xfffeu

/* An address in user space has 47 bits. */
static pt_u32 place_of(struct pt_stack_tree *tree, pt_u32 module, pt_u64 address)
{
    const pt_u64 key = (pt_u64)module << ADDRESS_BITS | (address & ((1ull << ADDRESS_BITS) - 1));
    pt_u64 *number = pt_map_at(&tree->places, key);
    if (!*number)
        *number = tree->places.n;
    return (pt_u32)*number;
}

static pt_u32 node_of(struct pt_stack_tree *tree, pt_u32 parent, struct pt_code_place place)
{
    if (tree->places.n >= PT_CPU_NODES_MAX) {
        tree->lost_nodes++;
        return parent;
    }
    const bool is_known = place.module <= MODULES_MAX || place.module == PT_CPU_MODULE_PYTHON;
    const pt_u32 module = is_known ? place.module : PT_CPU_MODULE_UNKNOWN;
    const pt_u64 key = (pt_u64)parent << 32 | place_of(tree, module, place.address);
    const pt_u64 *known = pt_map_find(&tree->nodes, key);
    if (known)
        return (pt_u32)*known;
    if (tree->nodes.n >= PT_CPU_NODES_MAX) {
        tree->lost_nodes++;
        return parent;
    }
    const struct pt_cpu_node node = {parent, module, place.address};
    pt_chunk_add(&tree->fresh, &node, sizeof node);
    pt_u64 *number = pt_map_at(&tree->nodes, key);
    *number = tree->nodes.n;
    return (pt_u32)*number;
}

pt_u32 pt_stack_tree_add(struct pt_stack_tree *tree, const struct pt_unwound *stack, bool in_kernel)
{
    pt_u32 node = 0;
    if (stack->is_cut)
        node = node_of(tree, node, (struct pt_code_place){PT_CPU_MODULE_CUT, 0});
    for (pt_u32 i = stack->n; i--;)
        node = node_of(tree, node, stack->frames[i]);
    if (in_kernel)
        node = node_of(tree, node, (struct pt_code_place){PT_CPU_MODULE_KERNEL, 0});
    return node;
}

void pt_stack_tree_fini(struct pt_stack_tree *tree)
{
    pt_map_fini(&tree->places);
    pt_map_fini(&tree->nodes);
    free(tree->fresh.items);
}
