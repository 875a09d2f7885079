/* SPDX-License-Identifier: MIT
 *
 * redact.h - secrets in command lines are masked before they are stored.
 */
#ifndef PT_CORE_REDACT_H
#define PT_CORE_REDACT_H

#include "text.h"

/* Add one argument with its secret masked. `mask_whole`: the argument before was an option that names a secret. Returns
 * whether the next one is such a value. */
int pt_redact_argument(struct pt_text *text, const char *argument, int mask_whole);
/* Add a whole command line, word by word. */
void pt_redact_command(struct pt_text *text, const char *command);

#endif
