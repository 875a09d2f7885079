/* SPDX-License-Identifier: MIT
 *
 * diff.h - two runs side by side, as a document that text, Markdown, JSON and pages are made of.
 */
#ifndef PT_DIFF_DIFF_H
#define PT_DIFF_DIFF_H

#include <cjson/cJSON.h>

#include "report/doc/doc.h"

/* One of the two runs. */
struct pt_diff_run {
    const char *name;  /* as the user gave it */
    const char *stage; /* only this one; NULL = all */
    const cJSON *document;
};

/* Stages of one name are a pair; a stage that was asked for on both sides is one with the other, whatever their names.
 * The document's verdict says in one line what took longer or shorter, and why. NULL: a stage that was asked for is not
 * there. */
struct pt_doc *pt_diff_build(const struct pt_diff_run *a, const struct pt_diff_run *b, struct pt_error *err);

#endif
