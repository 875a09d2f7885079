/* SPDX-License-Identifier: MIT
 *
 * import.h - results of hyperfine (--export-json) and pytest-benchmark (--benchmark-json) as runs: a stage for each
 * benchmark, a run for each time that was measured.
 */
#ifndef PT_REGRESSION_IMPORT_H
#define PT_REGRESSION_IMPORT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/vec.h"

struct pt_read_file {
    dev_t device;
    ino_t inode;
};

/* As pt_run_document has them, as far as a benchmark knows it. */
struct pt_documents {
    PT_VEC(cJSON *);
    struct {
        PT_VEC(struct pt_read_file);
    } files;           /* and run directories that were read */
    size_t n_repeated; /* named more than once; they count once */
};

/* One of several that were measured together: it need not have every stage that others have. */
bool pt_import_is_benchmark(const cJSON *document);
/* Is it a file, and no run directory? */
bool pt_import_is_file(const char *path);
/* Adds to `documents`. -1: it is no result of either. */
int pt_import(const char *path, struct pt_documents *documents, struct pt_error *err);
/* What a user names: a run (NULL = the latest), or such a file. One that is there already is left out: a link to it may
 * be among the names, too. */
int pt_documents_read(const char *path, struct pt_documents *documents, struct pt_error *err);
void pt_documents_fini(struct pt_documents *documents);

#endif
