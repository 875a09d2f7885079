/* SPDX-License-Identifier: MIT
 *
 * document.h - a JSON file of the user's: read whole, checked strictly, parsed. Errors have exit code 2 and say in one
 * line what is wrong with the file and what to do.
 */
#ifndef PT_PIPELINE_DOCUMENT_H
#define PT_PIPELINE_DOCUMENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <time.h>

#include "util/error.h"
#include "util/str.h"

enum { PT_DOCUMENT_MAX_MIB = 16 };

struct pt_document {
    struct pt_str text; /* without the byte order mark, if it had one */
    cJSON *json;
    struct timespec modified;
};

/* A configuration: strict JSON, from a file or a pipe. */
int pt_document_read(const char *path, struct pt_document *ret_document, struct pt_error *err);
/* What a program has left: a regular file, and Python's NaN is null. */
int pt_document_read_report(const char *path, struct pt_document *ret_document, struct pt_error *err);
/* The same; a document without any of the words (NULL-terminated) is not parsed: its `json` is NULL. */
int pt_document_read_report_with(const char *path, const char *const *words, struct pt_document *ret_document,
                                 struct pt_error *err);
void pt_document_fini(struct pt_document *document);

/* "the string \"ten\"", "the number 7", "true", "a list": what was found where something else was expected. */
void pt_document_describe(const cJSON *item, struct pt_str *out);

#endif
