/* SPDX-License-Identifier: MIT
 *
 * remove_tree.h - a directory and all that is in it, gone.
 */
#ifndef PT_PIPELINE_REMOVE_TREE_H
#define PT_PIPELINE_REMOVE_TREE_H

/* -1 with errno when something stayed. Links are removed, not followed; other file systems are left alone. */
int pt_remove_tree(const char *directory);

#endif
