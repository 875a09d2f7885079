/* SPDX-License-Identifier: MIT
 *
 * json_file.h - a document of JSON that somebody else may have written.
 */
#ifndef PT_REGRESSION_JSON_FILE_H
#define PT_REGRESSION_JSON_FILE_H

#include <cjson/cJSON.h>

#include "util/error.h"

/* NULL = error: exit code 2 where there is none, 3 where it cannot be read. At most 64 MiB. */
cJSON *pt_json_file_read(const char *path, struct pt_error *err);

#endif
