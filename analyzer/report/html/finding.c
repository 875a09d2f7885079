/* SPDX-License-Identifier: MIT
 *
 * Owns: how findings and failures look on a page. Threads: any. Never: judges.
 */
#include "finding.h"

#include <math.h>

#include "report/svg/svg.h"
#include "util/text/fmt.h"
#include "panel.h"
#include "table.h"
#include "value.h"

void pt_html_finding_number(struct pt_str *out, const struct pt_doc_finding *finding, bool is_on_page)
{
    if (is_on_page)
        pt_str_printf(out, "<a class=\"no\" href=\"#finding-%u\">%u</a>", finding->number, finding->number);
    else
        pt_str_printf(out, "<span class=\"no\">%u</span>", finding->number);
}

static void put_gain(struct pt_str *out, const struct pt_finding *of)
{
    if (pt_finding_has_time(of))
        pt_str_printf(out, "<span class=\"gain\">%s (%.0f %% of the run)</span>",
                      pt_fmt_duration((int64_t)llround(of->time_s * 1e9)).text, of->time_percent);
    if (!(of->gain_upper_s > 0))
        return;
    pt_str_printf(out, "<span class=\"gain\">up to %s", pt_fmt_duration((int64_t)llround(of->gain_upper_s * 1e9)).text);
    pt_str_printf(out, of->gain_upper_percent < 10 ? " (%.1f %% of the run)" : " (%.0f %% of the run)",
                  of->gain_upper_percent);
    pt_str_add(out, "</span>");
}

static void put_fact(struct pt_str *out, const char *label, const char *text)
{
    if (!text)
        return;
    pt_str_printf(out, "<p class=\"fact\"><b>%s</b> ", label);
    pt_html_text(out, text);
    pt_str_add(out, "</p>");
}

/* Its place in the time bar of its stage. */
static void put_bar(struct pt_str *out, const struct pt_doc_finding *finding)
{
    struct pt_bar bar = finding->stage ? finding->stage->time : (struct pt_bar){0};
    struct pt_bar_mark mark = {finding->number, (pt_u32)finding->of->part + 1, true};
    const double length_s = pt_cell_number(bar.length);
    bool is_there = false;
    for (pt_u32 i = 0; i < bar.n_parts; i++)
        is_there |= bar.parts[i].color == mark.color;
    if (!is_there || !(length_s > 0))
        return;
    bar.marks = &mark;
    bar.n_marks = 1;
    pt_svg_bar(out, &bar, length_s);
}

static bool is_on_page(const struct pt_doc *doc, const struct pt_doc_stage *stage)
{
    for (size_t i = 0; i < doc->stages.n && i < PT_HTML_MOST_ROWS; i++)
        if (doc->stages.items[i] == stage)
            return true;
    return false;
}

static void put_stage_link(struct pt_str *out, const struct pt_doc *doc, const struct pt_doc_stage *stage)
{
    const bool has_link = is_on_page(doc, stage);
    pt_str_add(out, " in ");
    if (has_link)
        pt_str_printf(out, "<a href=\"#stage-%u\">", stage->index);
    pt_html_text(out, stage->name);
    pt_str_add(out, has_link ? "</a>" : "");
}

static void put_finding(struct pt_str *out, const struct pt_doc *doc, const struct pt_doc_finding *finding)
{
    const struct pt_finding *of = finding->of;
    pt_str_printf(out, "<article class=\"finding\" id=\"finding-%u\"><h3><span class=\"t1\">%u. ", finding->number,
                  finding->number);
    pt_html_text(out, of->title);
    pt_str_add(out, "</span>");
    put_gain(out, of);
    pt_str_add(out, "</h3><p class=\"note\">");
    pt_html_badge(out, pt_severity_name(of->severity));
    if (finding->stage)
        put_stage_link(out, doc, finding->stage);
    pt_str_printf(out, ", confidence %s</p>", pt_confidence_name(of->confidence));
    put_fact(out, "Where", finding->where);
    put_bar(out, finding);
    put_fact(out, "Try", pt_finding_try(of));
    if (finding->evidence.n || finding->rows) {
        pt_str_add(out, "<details><summary>Evidence</summary>");
        put_fact(out, "Gain, at most", finding->gain_of);
        pt_html_lines(out, &finding->evidence);
        if (finding->rows)
            pt_html_table(out, finding->rows, false);
        pt_str_add(out, "</details>");
    }
    pt_str_add(out, "</article>\n");
}

static void put_first(struct pt_str *out, const struct pt_doc *doc, const struct pt_doc_finding *findings, size_t n)
{
    for (size_t i = 0; i < n && i < PT_DOC_MOST_FINDINGS_OF_A_PAGE; i++)
        put_finding(out, doc, &findings[i]);
    if (n > PT_DOC_MOST_FINDINGS_OF_A_PAGE)
        pt_str_printf(out, "<p class=\"note\">… and %zu more</p>", n - PT_DOC_MOST_FINDINGS_OF_A_PAGE);
}

void pt_html_findings(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_add(out, "<section id=\"findings\"><h2>What to fix first</h2>");
    if (!doc->findings.n)
        pt_str_add(out, doc->observations.n ? "<p>" PT_DOC_NO_KNOWN_PROBLEM ".</p>" : "<p>" PT_DOC_NO_PROBLEM "</p>");
    else
        pt_str_add(out, "<p class=\"note\">What went wrong first, then by possible gain; what other programs took, and "
                        "what another finding says more exactly, further down. Gains are upper bounds, what was "
                        "measured and a tenth more; they may overlap. A number below a bar is the finding that lies in "
                        "that part.</p>");
    put_first(out, doc, doc->findings.items, doc->findings.n);
    if (doc->observations.n)
        pt_str_add(out, "<h2>Where time goes without a known problem</h2>");
    put_first(out, doc, doc->observations.items, doc->observations.n);
    pt_str_add(out, "</section>\n");
}

/* ---- failures ---- */

static const char *status_of(const struct pt_doc *doc, const char *name)
{
    for (size_t i = 0; i < doc->stages.n; i++)
        if (name && !strcmp(doc->stages.items[i]->name, name))
            return doc->stages.items[i]->status;
    return "failed";
}

void pt_html_failures(struct pt_str *out, const struct pt_doc *doc)
{
    if (!doc->failures.n)
        return;
    pt_str_add(out, "<section id=\"failures\"><h2>Failures</h2>");
    for (size_t i = 0; i < doc->failures.n; i++) {
        const struct pt_doc_failure *failure = &doc->failures.items[i];
        pt_str_add(out, "<div class=\"box bad\"><h3>");
        pt_html_text(out, failure->stage);
        pt_str_char(out, ' ');
        pt_html_badge(out, status_of(doc, failure->stage));
        pt_str_add(out, "</h3><p>");
        pt_html_cell_and_reason(out, failure->reason);
        pt_str_add(out, "</p>");
        if (failure->n_lines) {
            pt_str_add(out, "<p class=\"note\">End of ");
            pt_html_text(out, failure->log ? failure->log : "its output");
            pt_str_add(out, "</p>");
        }
        pt_html_log(out, failure->lines, failure->n_lines);
        if (failure->n_stacks)
            pt_str_add(out, "<p class=\"note\">What its threads were at, equal stacks once</p>");
        pt_html_log(out, failure->stacks, failure->n_stacks);
        pt_str_add(out, "</div>\n");
    }
    pt_str_add(out, "</section>\n");
}
