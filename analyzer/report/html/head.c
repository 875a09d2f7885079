/* SPDX-License-Identifier: MIT
 *
 * Owns: the top of the page. Threads: any. Never: hides what was lost.
 */
#include "head.h"

#include <math.h>

#include "report/svg/svg.h"
#include "util/text/fmt.h"
#include "panel.h"
#include "value.h"

/* ---- what ran ---- */

static const struct pt_doc_stage *only_stage(const struct pt_doc *doc)
{
    return doc->stages.n == 1 ? doc->stages.items[0] : NULL;
}

static void put_title(struct pt_str *out, const struct pt_doc *doc)
{
    if (only_stage(doc) && !doc->dataset) {
        pt_str_add(out, "Profile of ");
        pt_html_text(out, only_stage(doc)->name);
        return;
    }
    pt_str_add(out, "Pipeline profile");
    if (doc->dataset) {
        pt_str_add(out, ": ");
        pt_html_text(out, doc->dataset);
    }
    if (isfinite(doc->epochs))
        pt_str_printf(out, ", %.0f epoch%s", doc->epochs, doc->epochs == 1 ? "" : "s");
}

static void put_fact(struct pt_str *out, const char *label, struct pt_cell cell)
{
    pt_str_printf(out, "<div><dt>%s</dt><dd>", label);
    pt_html_cell(out, cell);
    pt_str_add(out, "</dd></div>");
}

/* 2026-11-20T12:00:00Z, for people. */
static void put_instant(struct pt_str *out, const char *iso)
{
    pt_str_add(out, "<div><dt>Started</dt><dd>");
    for (; *iso; iso++)
        pt_str_add(out, *iso == 'T' ? " " : *iso == 'Z' ? " UTC" : (char[]){*iso, 0});
    pt_str_add(out, "</dd></div>");
}

void pt_html_header(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_add(out, "<header><h1>");
    put_title(out, doc);
    pt_str_add(out, "</h1><dl class=\"meta\">");
    for (size_t i = 0; i < doc->head.n; i++) {
        const struct pt_line *line = &doc->head.items[i];
        if (doc->started_utc && line->cell.value.type == PT_VALUE_TEXT && line->cell.value.text == doc->started_utc)
            put_instant(out, doc->started_utc);
        else
            put_fact(out, line->label, line->cell);
    }
    if (only_stage(doc) && only_stage(doc)->command)
        put_fact(out, "Command", pt_cell(PT_SHOW_TEXT, pt_text(only_stage(doc)->command)));
    put_fact(out, "Tool", pt_cell(PT_SHOW_TEXT, pt_text("proftrace " PROFTRACE_VERSION)));
    pt_str_add(out, "</dl></header>");
}

/* ---- cards ---- */

static void open_card(struct pt_str *out, const char *label)
{
    pt_str_printf(out, "<li><span>%s</span><b>", label);
}

static void middle_card(struct pt_str *out)
{
    pt_str_add(out, "</b><span>");
}

static void close_card(struct pt_str *out)
{
    pt_str_add(out, "</span></li>");
}

static void put_wall_card(struct pt_str *out, const struct pt_doc *doc)
{
    static const char *const statuses[] = {"ok", "failed", "timeout", "running", "skipped"};
    const char *before = "";
    open_card(out, "Wall time");
    pt_html_cell(out, pt_cell(PT_SHOW_SECONDS, pt_real(doc->duration_s)));
    middle_card(out);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        pt_u32 n = 0;
        for (size_t j = 0; j < doc->stages.n; j++)
            n += !strcmp(doc->stages.items[j]->status, statuses[i]);
        if (!n)
            continue;
        pt_str_printf(out, "%s%u %s", before, n, statuses[i]);
        before = ", ";
    }
    close_card(out);
}

static const struct pt_doc_stage *longest(const struct pt_doc *doc)
{
    for (size_t i = 0; i < doc->stages.n; i++)
        if (doc->stages.items[i]->is_longest)
            return doc->stages.items[i];
    return doc->stages.items[0];
}

static void put_slowest_card(struct pt_str *out, const struct pt_doc *doc)
{
    const struct pt_doc_stage *slowest = longest(doc);
    open_card(out, "Slowest stage");
    pt_html_text(out, slowest->name);
    middle_card(out);
    pt_html_cell(out, slowest->duration);
    pt_str_printf(out, ", %s of the run", pt_svg_percent(slowest->share_percent, 100).text);
    close_card(out);
}

typedef struct pt_cell cell_of(const struct pt_doc_stage *stage);

static struct pt_cell cpu_avg(const struct pt_doc_stage *stage)
{
    return stage->cpu_avg;
}

static struct pt_cell rss_max(const struct pt_doc_stage *stage)
{
    return stage->rss_max;
}

static struct pt_cell gpu_util(const struct pt_doc_stage *stage)
{
    return stage->gpu_util;
}

/* The largest value over the stages and its stage; if none is known, the reason of the longest stage. */
static void put_top_card(struct pt_str *out, const struct pt_doc *doc, const char *label, cell_of *of)
{
    const struct pt_doc_stage *top = NULL;
    for (size_t i = 0; i < doc->stages.n; i++) {
        const double number = pt_cell_number(of(doc->stages.items[i]));
        if (isfinite(number) && (!top || number > pt_cell_number(of(top))))
            top = doc->stages.items[i];
    }
    const struct pt_cell cell = of(top ? top : longest(doc));
    open_card(out, label);
    pt_html_cell(out, cell);
    middle_card(out);
    if (top) {
        pt_str_add(out, "in ");
        pt_html_text(out, top->name);
    } else {
        pt_html_text(out, cell.value.reason ? cell.value.reason : "unknown");
    }
    close_card(out);
}

/* A machine without a GPU has nothing to say about one. */
static bool uses_gpu(const struct pt_doc *doc)
{
    for (size_t i = 0; i < doc->stages.n; i++)
        if (isfinite(pt_cell_number(doc->stages.items[i]->gpu_util)))
            return true;
    return false;
}

/* Not that of the first one: errors come before it, whatever they cost. */
static double largest_gain_s(const struct pt_doc *doc)
{
    double most = 0;
    for (size_t i = 0; i < doc->findings.n; i++)
        most = fmax(most, doc->findings.items[i].of->gain_upper_s);
    return most;
}

static void put_findings_card(struct pt_str *out, const struct pt_doc *doc)
{
    const double gain_s = largest_gain_s(doc);
    open_card(out, "Findings");
    pt_str_printf(out, "%zu", doc->findings.n);
    middle_card(out);
    if (gain_s > 0)
        pt_str_printf(out, "largest: up to %s", pt_fmt_duration((int64_t)llround(gain_s * 1e9)).text);
    else
        pt_str_add(out, doc->findings.n ? "none costs measured time" : "nothing above the limits");
    close_card(out);
}

void pt_html_lead(struct pt_str *out, const struct pt_doc *doc)
{
    if (doc->verdict)
        pt_html_element(out, "p", "lead", doc->verdict);
    if (!doc->stages.n)
        return;
    pt_str_add(out, "<ul class=\"cards\">");
    put_wall_card(out, doc);
    if (only_stage(doc))
        put_top_card(out, doc, "CPU, mean", cpu_avg);
    else
        put_slowest_card(out, doc);
    put_top_card(out, doc, "Peak memory", rss_max);
    if (uses_gpu(doc))
        put_top_card(out, doc, "GPU busy", gpu_util);
    put_findings_card(out, doc);
    pt_str_add(out, "</ul>\n");
}

/* ---- how far it can be trusted ---- */

bool pt_html_trace_is_incomplete(const struct pt_doc *doc)
{
    return doc->is_empty || doc->is_cut || doc->lost_files > 0 || doc->lost_events > 0 || doc->untraced > 0;
}

static const char *quality_of(const struct pt_doc *doc)
{
    if (doc->is_empty)
        return "nothing was captured";
    if (doc->is_cut)
        return "trace files are cut short";
    if (doc->lost_files > 0)
        return "trace files are missing or damaged";
    if (doc->lost_events > 0)
        return doc->untraced > 0 ? "events were lost, programs are missing" : "events were lost";
    return doc->untraced > 0 ? "programs are missing" : "complete";
}

void pt_html_trace_quality(struct pt_str *out, const struct pt_doc *doc)
{
    pt_str_printf(out, "<section class=\"box %s\" id=\"quality\"><h2>Trace quality: %s</h2><p>",
                  doc->is_empty                      ? "bad"
                  : pt_html_trace_is_incomplete(doc) ? "warn"
                                                     : "good",
                  quality_of(doc));
    for (size_t i = 0; i < doc->trace_quality.n; i++) {
        pt_str_add(out, i ? "; " : "");
        pt_html_text(out, doc->trace_quality.items[i].label);
        pt_str_add(out, " <b>");
        pt_html_cell_and_reason(out, doc->trace_quality.items[i].cell);
        pt_str_add(out, "</b>");
    }
    pt_str_add(out, ".</p>");
    pt_html_texts(out, doc->notes, doc->n_notes);
    if (doc->not_traced)
        pt_html_fold(out, doc->not_traced);
    pt_str_add(out, "</section>\n");
}
