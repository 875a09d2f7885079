/* SPDX-License-Identifier: MIT
 *
 * import.h - results of hyperfine (--export-json) and pytest-benchmark (--benchmark-json) as runs: a stage for each
 * benchmark, a run for each time that was measured.
 */
#ifndef PT_REGRESSION_IMPORT_H
#define PT_REGRESSION_IMPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "util/error.h"
#include "util/vec.h"

/* As pt_run_document has them, as far as a benchmark knows it. */
struct pt_documents {
    PT_VEC(cJSON *);
};

/* Is it a file, and no run directory? */
bool pt_import_is_file(const char *path);
/* Adds to `documents`. -1: it is no result of either. */
int pt_import(const char *path, struct pt_documents *documents, struct pt_error *err);
/* What a user names: a run (NULL = the latest), or such a file. */
int pt_documents_read(const char *path, struct pt_documents *documents, struct pt_error *err);
void pt_documents_fini(struct pt_documents *documents);

#endif
