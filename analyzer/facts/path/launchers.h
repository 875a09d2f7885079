/* SPDX-License-Identifier: MIT
 *
 * path/launchers.h - processes that only wait for what they started: sh, torchrun, make, a script that runs commands.
 *
 * What a process does tells it, not its name: from its first child's start to its last one's end its main thread waits,
 * sleeps and polls, and that is most of its life. When it did so, and for which child, are its windows.
 */
#ifndef PT_FACTS_PATH_LAUNCHERS_H
#define PT_FACTS_PATH_LAUNCHERS_H

#include "tree.h"
#include "util/vec.h"

/* A time in which a process waited for a child that lived all of it. */
struct pt_path_window {
    pt_i64 from_ns, until_ns;
    const struct pt_process *child; /* its first image */
};

struct pt_path_windows {
    PT_VEC(struct pt_path_window); /* in the order of time, without overlap; none = it is no launcher */
};

/* Reads the process's waits from the trace if its totals allow that it is a launcher. */
struct pt_path_windows pt_path_windows_of(const struct pt_path_tree *tree, const struct pt_process *process);

#endif
