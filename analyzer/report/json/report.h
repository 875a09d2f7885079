/* SPDX-License-Identifier: MIT
 *
 * report.h - the parts of report.json: the profile as it is, in the shape of docs/report.schema.json.
 */
#ifndef PT_REPORT_JSON_REPORT_H
#define PT_REPORT_JSON_REPORT_H

#include "rules/rule.h"
#include "util/arena.h"
#include "util/json/json_writer.h"

/* The writer, and the only stage to be written. */
struct pt_report_json {
    struct pt_json *json;
    const struct pt_profile *profile;
    const struct pt_findings *findings;
    const char *stage; /* NULL = all */
    struct pt_arena *arena;
};

static inline bool pt_report_json_wants(const struct pt_report_json *r, pt_u32 stage)
{
    return !r->stage || !strcmp(r->stage, r->profile->stages.items[stage].name);
}

#endif
