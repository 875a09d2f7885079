/* SPDX-License-Identifier: MIT
 *
 * seeds.c - a first corpus: `fuzz_seeds TARGET DIRECTORY` writes a trace, or its text, that has one of everything.
 */
#include <stdio.h>
#include <string.h>

#include "helper_trace.h"
#include "model/session_text.h"
#include "util/auto.h"

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    struct pt_error err = {0};
    char path[4096];
    struct pt_trace_writer *writer = helper_sample();
    snprintf(path, sizeof path, "%s/sample", argv[2]);
    int result;
    if (strcmp(argv[1], "fuzz_text") != 0) {
        result = pt_writer_save(writer, path, &err);
    } else {
        PT_AUTO(pt_session_closep) struct pt_session *session = helper_session(writer);
        PT_AUTO(pt_fclosep) FILE *out = fopen(path, "we");
        result = out ? pt_session_write_text(session, out, &err) : -1;
    }
    pt_trace_writer_free(writer);
    if (result < 0)
        fprintf(stderr, "fuzz_seeds: %s\n", err.text);
    return result < 0;
}
