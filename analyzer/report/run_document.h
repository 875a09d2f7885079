/* SPDX-License-Identifier: MIT
 *
 * run_document.h - what `report --format json` says of a run, as a tree to look things up in.
 */
#ifndef PT_REPORT_RUN_DOCUMENT_H
#define PT_REPORT_RUN_DOCUMENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "util/error.h"
#include "util/str.h"

/* Of the run at `path`, as pt_run_open takes it. Only the tree is kept: two runs need the memory of one. NULL = error.
 */
cJSON *pt_run_document(const char *path, struct pt_error *err);

static inline void pt_run_document_freep(cJSON **document)
{
    cJSON_Delete(*document);
}

/* NULL, or NAN, where the member is missing or of another type: documents may come from anywhere. */
const char *pt_member_text(const cJSON *object, const char *key);
double pt_member_number(const cJSON *object, const char *key);
/* The stage of a name; NULL = there is none. */
const cJSON *pt_stage_named(const cJSON *document, const char *name);
/* It ended well, and somebody saw that: one that became a program without a trace is ok, too, but has a reason. */
bool pt_stage_is_whole(const cJSON *stage);
/* It was not asked for, by an option or by the configuration. */
bool pt_stage_is_left_out(const cJSON *stage);
/* Events of a run that are not in its trace. Calls, bytes and the heap come from totals, which have those that were
 * stored or refused for want of space; the others are in no total. */
struct pt_lost_events {
    double all, in_no_total;
};
struct pt_lost_events pt_document_lost(const cJSON *document);
/* Are more than a thousandth of the events of a run so many? */
bool pt_document_is_much(const cJSON *document, double events);
/* "1 trace file is cut short, 2 are missing"; nothing when all files of the run were read. */
void pt_document_lacks(const cJSON *document, struct pt_str *out);

#endif
