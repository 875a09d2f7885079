/* SPDX-License-Identifier: MIT
 *
 * assemble.c - Owns: `proftrace assemble`: a session's text to trace files, the inverse of dump. Threads: main only.
 */
#include <errno.h>
#include <string.h>

#include "model/text/read.h"
#include "util/auto.h"
#include "cmd.h"
#include "arguments/options.h"

int pt_cmd_assemble(int argc, char **argv, struct pt_error *err)
{
    const char *output = NULL;
    const struct pt_opt table[] = {
        PT_OPT_TEXT("output", 'o', &output, "FILE.ptr|DIR", "the trace file, or where one per process goes"),
        PT_OPT_END};
    struct pt_arguments args = {.min = 1, .max = 1};
    const int done = pt_options_parse(table, argc, argv, &args, err);
    if (done)
        return done < 0 ? -1 : 0;
    if (!output)
        return pt_fail_code(err, 2, "-o FILE.ptr or -o DIR is missing");
    PT_AUTO(pt_fclosep) FILE *in = fopen(args.values[0], "re");
    if (!in)
        return pt_fail_code(err, 3, "cannot open %s: %s", args.values[0], strerror(errno));
    return pt_session_read_text(in, args.values[0], output, err);
}
