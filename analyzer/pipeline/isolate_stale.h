/* SPDX-License-Identifier: MIT
 *
 * isolate_stale.h - temporary configurations whose launcher was killed: each holds a file that its launcher keeps
 * locked, so one that can be locked has none.
 */
#ifndef PT_PIPELINE_ISOLATE_STALE_H
#define PT_PIPELINE_ISOLATE_STALE_H

#define PT_ISOLATE_PREFIX "proftrace-pipeline-"

/* Mark a directory as used by this process, until the descriptor is closed. -1 = it cannot be marked; then it stays for
 * good if we are killed. */
int pt_isolate_mark(const char *directory);
/* Take the mark away: what is kept on purpose is not stale. */
void pt_isolate_unmark(const char *directory);
/* Remove those of this user below `root` that no launcher holds and no process was told of. */
void pt_isolate_remove_stale(const char *root);

#endif
