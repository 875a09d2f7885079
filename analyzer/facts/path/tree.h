/* SPDX-License-Identifier: MIT
 *
 * path/tree.h - which process started which, in which order they ended, and what each did with its descendants.
 */
#ifndef PT_FACTS_PATH_TREE_H
#define PT_FACTS_PATH_TREE_H

#include "facts/state.h"

struct pt_path_tree {
    const struct pt_facts *facts;
    struct pt_path_node {
        const struct pt_process *first_child, *next_sibling; /* first images */
        const struct pt_process *next_image;
        double busy_ns;  /* on CPUs or sleeping, with all descendants; NAN = some of it is not known */
        pt_i64 start_ns; /* of its main thread, as the kernel saw it */
        pt_i64 end_ns;
        size_t first_ended; /* of its children, in `ended` */
        size_t n_children;
    } * nodes;                       /* by process */
    const struct pt_process **ended; /* children of each process, in the order in which their last images ended */
    /* Of each of these and those of its parent behind it: when the first two copies of the parent began. */
    struct pt_path_copies {
        pt_i64 first_ns, second_ns; /* the end of all times = there is none */
    } * copies;
};

void pt_path_tree_open(struct pt_path_tree *tree, const struct pt_facts *facts);
void pt_path_tree_close(struct pt_path_tree *tree);

static inline const struct pt_path_node *pt_path_node_of(const struct pt_path_tree *tree,
                                                         const struct pt_process *process)
{
    return &tree->nodes[process->index];
}

/* Who forked it; its images after an exec have their first one as their parent. */
const struct pt_process *pt_path_starter(const struct pt_process *process);
/* Of the last image of a process, from its first one. */
pt_i64 pt_path_end(const struct pt_path_tree *tree, const struct pt_process *child);
/* The first of a process's children, in the order of their ends, that ended then or later: where in `ended`. */
size_t pt_path_first_ended(const struct pt_path_tree *tree, const struct pt_process *process, pt_i64 from_ns);
/* Of a copy of its parent: another one lived at the same time. */
bool pt_path_has_another_copy(const struct pt_path_tree *tree, const struct pt_process *copy);

#endif
