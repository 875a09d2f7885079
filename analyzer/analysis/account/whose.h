/* SPDX-License-Identifier: MIT
 *
 * account/whose.h - whose main threads the account of a stage is about.
 */
#ifndef PT_ANALYSIS_ACCOUNT_WHOSE_H
#define PT_ANALYSIS_ACCOUNT_WHOSE_H

#include "state.h"

/* Stores account.of: "python3 train.py, started by sh run.sh"; nothing where the stage's own command does the work. */
void pt_account_set_whose(struct pt_account *account, pt_u32 stage);

#endif
