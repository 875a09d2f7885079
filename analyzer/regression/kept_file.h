/* SPDX-License-Identifier: MIT
 *
 * kept_file.h - a file of the user's that is read, changed and written again: where a link leads, with the rights that
 * it had, and by one process at a time.
 */
#ifndef PT_REGRESSION_KEPT_FILE_H
#define PT_REGRESSION_KEPT_FILE_H

#include "util/error.h"
#include "util/str.h"

/* Wait until no other process has it, and have it until the descriptor is closed: by us, or by the end of the process.
 * -1 = a file system without locks, or a folder that is not there: then nobody waits. */
int pt_kept_file_lock(const char *path);
/* All or nothing. */
int pt_kept_file_write(const char *path, const struct pt_str *text, struct pt_error *err);

#endif
