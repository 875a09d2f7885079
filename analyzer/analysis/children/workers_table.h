/* SPDX-License-Identifier: MIT
 *
 * children/workers_table.h - metrics and tables of workers, commands and forks.
 */
#ifndef PT_ANALYSIS_CHILDREN_WORKERS_TABLE_H
#define PT_ANALYSIS_CHILDREN_WORKERS_TABLE_H

#include "state.h"

/* Of a stage. */
void pt_children_results(struct pt_children *children, pt_u32 stage);

#endif
