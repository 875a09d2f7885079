/* SPDX-License-Identifier: MIT
 *
 * notes.h - what makes two runs hard to compare: it is said, and stops nobody.
 */
#ifndef PT_DIFF_NOTES_H
#define PT_DIFF_NOTES_H

#include "report/doc/doc.h"
#include "change.h"

/* Of the runs, and of each pair of stages. */
void pt_diff_add_notes(struct pt_doc *doc, const struct pt_stage_pair *pairs, size_t n, const cJSON *a, const cJSON *b);

#endif
