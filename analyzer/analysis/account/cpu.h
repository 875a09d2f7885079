/* SPDX-License-Identifier: MIT
 *
 * account/cpu.h - the CPU figures of a thread, from the best source there is.
 */
#ifndef PT_ANALYSIS_ACCOUNT_CPU_H
#define PT_ANALYSIS_ACCOUNT_CPU_H

#include "state.h"

struct account_cpu pt_account_cpu(const struct account *account, pt_u32 stage);
/* Of any thread; `number`: in the CPU profile, 0 = it is not there; `last`: the last image of its process. */
struct account_cpu pt_account_cpu_of(const struct account *account, pt_u32 stage, pt_u32 number,
                                     const struct pt_process *last);

#endif
