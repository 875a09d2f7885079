/* SPDX-License-Identifier: MIT
 *
 * version.c - Owns: `proftrace version`. Threads: main only.
 */
#include <stdio.h>

#include "cmd.h"
#include "arguments/options.h"
#include "proftrace/format.h"

int pt_cmd_version(int argc, char **argv, struct pt_error *err)
{
    const struct pt_opt table[] = {PT_OPT_END};
    struct pt_arguments args = {.min = 0, .max = 0};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    printf("proftrace %s (trace format %u)\n", PROFTRACE_VERSION, PT_FORMAT_VERSION);
    return 0;
}
