/* SPDX-License-Identifier: MIT
 *
 * children/siblings.h - for how much of a wait for a command other children ran, too.
 */
#ifndef PT_ANALYSIS_CHILDREN_SIBLINGS_H
#define PT_ANALYSIS_CHILDREN_SIBLINGS_H

#include "state.h"

/* Of a wait for a child, the time in which several children of the process ran: that much they were started together.
 */
pt_i64 pt_children_concurrent_ns(struct pt_children *children, const struct pt_event *wait);

#endif
