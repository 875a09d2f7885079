/* SPDX-License-Identifier: MIT
 *
 * Owns: how a run becomes a tree. Threads: one. Never: keeps the run open.
 */
#include "run_document.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "report/build/build.h"
#include "report/open.h"
#include "report/render.h"
#include "util/auto.h"
#include "kept_report.h"

cJSON *pt_run_document(const char *path, struct pt_error *err)
{
    cJSON *kept = pt_kept_report(path);
    if (kept)
        return kept;
    struct pt_report report = {0};
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const int result = pt_report_open(path, &report, err);
    if (!result) {
        PT_AUTO(pt_doc_freep)
        struct pt_doc *doc = pt_report_build(&report.profile, &report.findings, &(struct pt_report_options){.top = 20});
        pt_render_json(doc, &(struct pt_render_options){0}, &text);
    }
    pt_report_close(&report);
    return result ? NULL : cJSON_ParseWithLength(pt_str_text(&text), text.n);
}

const char *pt_member_text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

double pt_member_number(const cJSON *object, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(member) ? member->valuedouble : NAN;
}

const cJSON *pt_stage_named(const cJSON *document, const char *name)
{
    const cJSON *stage;
    cJSON_ArrayForEach(stage, cJSON_GetObjectItemCaseSensitive(document, "stages"))
    {
        const char *own = pt_member_text(stage, "stage");
        if (own && !strcmp(own, name))
            return stage;
    }
    return NULL;
}

bool pt_stage_is_whole(const cJSON *stage)
{
    const char *status = pt_member_text(stage, "status");
    return status && !strcmp(status, "ok") && !pt_member_text(stage, "reason");
}

/* Left out are those of --only, --skip and --from, and those that the configuration skips; not what was only not
 * reached: pipeline/runner.c has these reasons. */
bool pt_stage_is_left_out(const cJSON *stage)
{
    static const char *const not_reached[] = {"stage '", "interrupted (", "not reached"};
    const char *status = pt_member_text(stage, "status"), *reason = pt_member_text(stage, "reason");
    if (!status || strcmp(status, "skipped") != 0 || !reason)
        return false;
    for (size_t i = 0; i < sizeof not_reached / sizeof *not_reached; i++)
        if (!strncmp(reason, not_reached[i], strlen(not_reached[i])))
            return false;
    return true;
}

/* NAN is none. */
static double or_0(double number)
{
    return number > 0 ? number : 0;
}

struct pt_lost_events pt_document_lost(const cJSON *document)
{
    const cJSON *quality = cJSON_GetObjectItemCaseSensitive(document, "trace_quality"),
                *processes = cJSON_GetObjectItemCaseSensitive(document, "processes"), *process;
    const double dropped = or_0(pt_member_number(quality, "dropped"));
    double no_space = processes ? 0 : dropped; /* of an epoch, and of several runs, the reasons are not known */
    cJSON_ArrayForEach(process, processes)
    {
        const cJSON *events = cJSON_GetObjectItemCaseSensitive(process, "events");
        no_space += or_0(pt_member_number(cJSON_GetObjectItemCaseSensitive(events, "drop_reasons"), "no_space"));
    }
    return (struct pt_lost_events){or_0(pt_member_number(quality, "overwritten")) + dropped, or_0(dropped - no_space)};
}

bool pt_document_is_much(const cJSON *document, double events)
{
    const cJSON *quality = cJSON_GetObjectItemCaseSensitive(document, "trace_quality");
    return events > 0.001 * or_0(pt_member_number(quality, "events"));
}

void pt_document_lacks(const cJSON *document, struct pt_str *out)
{
    static const char *const kinds[][2] = {
        {"cut_files", "cut short"}, {"damaged_files", "damaged"}, {"missing_files", "missing"}};
    const cJSON *quality = cJSON_GetObjectItemCaseSensitive(document, "trace_quality");
    bool is_first = true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const double n = pt_member_number(quality, kinds[i][0]);
        if (!(n > 0))
            continue;
        pt_str_printf(out, "%s%.0f %s%s %s", is_first ? "" : ", ", n,
                      !is_first ? ""
                      : n == 1  ? "trace file "
                                : "trace files ",
                      n == 1 ? "is" : "are", kinds[i][1]);
        is_first = false;
    }
}
