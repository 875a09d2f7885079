/* SPDX-License-Identifier: MIT
 *
 * stage_command.h - the command of a stage with what it names in braces filled in.
 */
#ifndef PT_PIPELINE_STAGE_COMMAND_H
#define PT_PIPELINE_STAGE_COMMAND_H

#include "proftrace/schema.h"

/* What a stage's command may name: {config}, {dataset}, {epochs}, {report_dir}. */
struct pt_stage_tokens {
    const char *config, *dataset, *report_dir;
    pt_u64 train_epochs;
};

/* A copy of the command, NULL-terminated, one block for free(). Other text in braces stays, and inserted text is not
 * searched for tokens. */
char **pt_stage_command(const char *const *command, const struct pt_stage_tokens *tokens);

#endif
