/* SPDX-License-Identifier: MIT
 *
 * selection.h - what a user names to compare: RUN, RUN:STAGE, RUN@EPOCH, RUN:STAGE@EPOCH, or a directory of runs.
 */
#ifndef PT_DIFF_SELECTION_H
#define PT_DIFF_SELECTION_H

#include <cjson/cJSON.h>

#include "util/error.h"

struct pt_selection {
    char *path;  /* the caller frees it */
    char *stage; /* NULL = all of them */
    long epoch;  /* as the training counts them; -1 = all of it */
};

/* Something that has this very name is a path, whatever is in it. */
struct pt_selection pt_selection_of(const char *argument);
void pt_selection_fini(struct pt_selection *selection);

/* The document of one epoch of a stage, as if it were a stage: its time, the parts of it, steps and throughput. Of
 * several processes the one that took longest counts. NULL: there is no such epoch, or several stages have epochs and
 * none is named.
 */
cJSON *pt_epoch_document(const cJSON *document, const struct pt_selection *selection, struct pt_error *err);

/* Adds the stages and findings of a run to those of a tree of runs, each stage under the name "RUN/STAGE". */
void pt_tree_add(cJSON *tree, const char *run, cJSON *document);

#endif
