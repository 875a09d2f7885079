/* SPDX-License-Identifier: MIT
 *
 * account/parts.h - from the recorded time of a thread to its account.
 */
#ifndef PT_ANALYSIS_ACCOUNT_PARTS_H
#define PT_ANALYSIS_ACCOUNT_PARTS_H

#include "cpu.h"
#include "state.h"

/* The recorded time of a thread becomes an account: time that was not recorded is computing, waiting for a CPU, or
 * unattributed; what could not be recorded is unknown, with the reason. `last`: the last image of its process. */
struct pt_account_result {
    struct pt_value parts[PT_PART__COUNT];
};
void pt_account_finish_split(const struct pt_process *last, struct pt_account_split *split, double wall_ns,
                             const struct pt_account_cpu *cpu, bool has_gpu, struct pt_account_result *result);
void pt_account_set_parts(struct pt_account *account, pt_u32 stage, struct pt_account_split *split);
/* A part of one process; unknown, with the reason, when it could not be recorded. */
struct pt_value pt_account_part_of(const struct pt_process *process, enum pt_time_part part, double ns);

/* Why the waits for a GPU are unknown. */
extern const char pt_account_no_gpu[];

#endif
