/* SPDX-License-Identifier: MIT
 *
 * path/launchers.h - processes that only wait for what they started: sh, torchrun, make, a script that runs commands.
 *
 * What a process does tells it, not its name: from its first child's start to its last one's end its main thread waits,
 * sleeps and polls, and that is most of its life. When it did so, and for which child, are its windows.
 */
#ifndef PT_FACTS_PATH_LAUNCHERS_H
#define PT_FACTS_PATH_LAUNCHERS_H

#include "facts/state.h"
#include "util/vec.h"

/* A time in which a process waited for a child that lived all of it. */
struct pt_path_window {
    pt_i64 from_ns, until_ns;
    const struct pt_process *child; /* its first image */
};

struct pt_path_windows {
    PT_VEC(struct pt_path_window); /* in the order of time, without overlap; none = it is no launcher */
};

/* Which process started which, and what each did with its descendants. */
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
};

void pt_path_tree_open(struct pt_path_tree *tree, const struct pt_facts *facts);
void pt_path_tree_close(struct pt_path_tree *tree);
/* Reads the process's waits from the trace if its totals allow that it is a launcher. */
struct pt_path_windows pt_path_windows_of(const struct pt_path_tree *tree, const struct pt_process *process);

#endif
