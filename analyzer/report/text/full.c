/* SPDX-License-Identifier: MIT
 *
 * Owns: the order of the whole report on a terminal. Threads: any. Never: leaves out a table.
 */
#include "full.h"

#include <string.h>

#include "panel.h"
#include "finding.h"

static void put_failures(const struct pt_text_out *t, const struct pt_doc *doc)
{
    if (!doc->failures.n)
        return;
    pt_text_heading(t, "Failures");
    for (size_t i = 0; i < doc->failures.n; i++)
        pt_text_failure(t, &doc->failures.items[i], (pt_u32)i + 1);
}

static void put_findings(const struct pt_text_out *t, const struct pt_doc *doc)
{
    const char *const nothing[] = {PT_DOC_NO_PROBLEM};
    if (doc->findings.n || !doc->observations.n)
        pt_text_heading(t, doc->findings.n ? PT_DOC_FINDINGS : "Findings");
    if (!doc->findings.n && !doc->observations.n)
        pt_text_texts(t, nothing, 1);
    for (size_t i = 0; i < doc->findings.n; i++)
        pt_text_finding(t, &doc->findings.items[i]);
    if (doc->observations.n)
        pt_text_heading(t, doc->findings.n ? "Where time goes without a known problem"
                                           : PT_DOC_NO_KNOWN_PROBLEM "; where time goes");
    for (size_t i = 0; i < doc->observations.n; i++)
        pt_text_finding(t, &doc->observations.items[i]);
}

static void put_stages(const struct pt_text_out *t, const struct pt_doc *doc)
{
    for (size_t i = 0; i < doc->stages.n; i++) {
        const struct pt_doc_stage *stage = doc->stages.items[i];
        pt_text_panels(t, &stage->panels, doc->profile->stages.n > 1 ? stage->name : NULL);
    }
}

static void put_panel(const struct pt_text_out *t, const struct pt_panel *panel)
{
    if (panel)
        pt_text_panel(t, panel, NULL);
}

/* A program that grades nothing has no quality to show. */
static bool has_grade(const struct pt_doc *doc)
{
    bool is_any = doc->broken_floors.n > 0;
    for (size_t i = 0; i < doc->grades.n; i++)
        is_any |= doc->grades.items[i].cell.value.type != PT_VALUE_UNKNOWN;
    return is_any;
}

void pt_text_outcome(const struct pt_text_out *t, const struct pt_doc *doc)
{
    put_panel(t, doc->summary);
    if (has_grade(doc)) {
        pt_text_heading(t, "Quality");
        pt_text_lines(t, &doc->grades, "");
    }
    put_failures(t, doc);
    put_panel(t, doc->skipped);
}

void pt_text_full(const struct pt_text_out *t, const struct pt_doc *doc)
{
    pt_text_lines(t, &doc->head, "");
    pt_text_outcome(t, doc);
    put_findings(t, doc);
    put_panel(t, doc->resources);
    put_panel(t, doc->time_account);
    put_panel(t, doc->whose_time);
    put_stages(t, doc);
    put_panel(t, doc->processes);
    put_panel(t, doc->not_traced);
    pt_text_heading(t, "Trace quality");
    pt_text_lines(t, &doc->trace_quality, "");
    if (doc->n_notes) {
        pt_text_heading(t, "Notes");
        pt_text_texts(t, doc->notes, doc->n_notes);
    }
    if (!strstr(pt_str_text(t->out), "  ...\n"))
        return;
    pt_str_char(t->out, '\n');
    pt_text_wrapped(
        t, "A table whose head ends with ... has columns that did not fit: a wider terminal, or report.html.", 0);
    pt_str_char(t->out, '\n');
}
