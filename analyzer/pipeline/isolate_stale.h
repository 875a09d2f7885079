/* SPDX-License-Identifier: MIT
 *
 * isolate_stale.h - temporary configurations whose launcher was killed: each has a file that its launcher keeps locked,
 * so if it can be locked the launcher is gone.
 */
#ifndef PT_PIPELINE_ISOLATE_STALE_H
#define PT_PIPELINE_ISOLATE_STALE_H

#define PT_ISOLATE_PREFIX "proftrace-pipeline-"

/* Mark a directory as used by this process, until the descriptor is closed. -1 = it cannot be marked; then it stays for
 * good if we are killed. */
int pt_isolate_mark(const char *directory);
/* Take the mark away: what is kept on purpose is not stale. */
void pt_isolate_unmark(const char *directory);
/* Remove those of this user below `root` that no launcher has locked and no process has in its environment. */
void pt_isolate_remove_stale(const char *root);

#endif
