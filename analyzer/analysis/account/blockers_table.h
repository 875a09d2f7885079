/* SPDX-License-Identifier: MIT
 *
 * account/blockers_table.h - the table of waits that were followed.
 */
#ifndef PT_ANALYSIS_ACCOUNT_BLOCKERS_TABLE_H
#define PT_ANALYSIS_ACCOUNT_BLOCKERS_TABLE_H

#include "state.h"

void pt_account_set_followed(struct pt_account *account, pt_u32 stage);

#endif
