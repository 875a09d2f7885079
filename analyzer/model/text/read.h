/* SPDX-License-Identifier: MIT
 *
 * text/read.h - trace files from the text of a session: see text/write.h.
 */
#ifndef PT_MODEL_TEXT_READ_H
#define PT_MODEL_TEXT_READ_H

#include <stdio.h>

#include "util/error.h"

/* Read a text and write its processes: one goes to `output` itself, or each to <output>/<comm>-<pid>-<trace id>.ptr
 * when `output` is a directory. -1 with the line number (exit code 3) when the text is wrong. `name` is for messages.
 */
int pt_session_read_text(FILE *in, const char *name, const char *output, struct pt_error *err);

#endif
