/* SPDX-License-Identifier: MIT
 *
 * text_file.h - a text as a file, all or nothing.
 */
#ifndef PT_REPORT_TEXT_FILE_H
#define PT_REPORT_TEXT_FILE_H

#include "util/error.h"
#include "util/str.h"

/* Where the user wants it: replaces a file at once, writes into what is none (/dev/null, a pipe); stdout when `path` is
 * NULL or "-". */
int pt_text_file_write(const char *path, const struct pt_str *text, struct pt_error *err);

#endif
