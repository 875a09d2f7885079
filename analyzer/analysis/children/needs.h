/* SPDX-License-Identifier: MIT
 *
 * children/needs.h - which commands need what one before has made: those cannot run together.
 */
#ifndef PT_ANALYSIS_CHILDREN_NEEDS_H
#define PT_ANALYSIS_CHILDREN_NEEDS_H

#include "state.h"

/* In the order of time. */
void pt_children_note_file(struct pt_children *children, const struct pt_event *e);

#endif
