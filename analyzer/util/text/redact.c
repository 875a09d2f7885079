/* SPDX-License-Identifier: MIT
 *
 * redact.c - Owns: the memory of redacted arguments. Threads: any. Never: changes its input.
 */
#include "redact.h"

#include <stdlib.h>
#include <string.h>

char *pt_redacted(const char *argument, struct pt_redact_line *line)
{
    /* Each hidden value becomes three characters; it has at least one, or is empty. */
    const size_t room = (strlen(argument) + 1) * strlen(PT_REDACT_MASK) + 1;
    struct pt_redact_out out = {.bytes = malloc(room), .room = room};
    if (!out.bytes)
        return NULL;
    out.bytes[0] = 0;
    pt_redact_argument(&out, argument, line);
    return out.bytes;
}
