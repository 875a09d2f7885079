/* SPDX-License-Identifier: MIT
 *
 * children/same_files.h - workers of one pool of which each reads all files, and how long that takes.
 */
#ifndef PT_ANALYSIS_CHILDREN_SAME_FILES_H
#define PT_ANALYSIS_CHILDREN_SAME_FILES_H

#include "state.h"

/* The current event is of a worker. */
void pt_children_note_read(struct pt_children *children, const struct pt_event *event);
/* The metrics of a stage, after the last event. */
void pt_children_same_files_results(const struct pt_children *children, pt_u32 stage);
void pt_children_reads_free(struct pt_children_reads *reads);

#endif
