/* SPDX-License-Identifier: MIT
 *
 * Owns: how findings and failures are told on a page. Threads: any. Never: judges.
 */
#include <math.h>

#include "util/auto.h"
#include "util/text/fmt.h"
#include "util/text/sanitize.h"
#include "html.h"

enum { MOST_FINDINGS = 60 };

static void put_gain(struct pt_str *out, const struct pt_node *finding)
{
    const double gain_s = pt_html_number(finding, "gain_upper_s");
    if (!(gain_s > 0))
        return;
    pt_str_printf(out, "<span class=\"gain\">up to %s", pt_fmt_duration((int64_t)llround(gain_s * 1e9)).text);
    const double percent = pt_html_number(finding, "gain_upper_percent");
    if (isfinite(percent))
        pt_str_printf(out, percent < 10 ? " (%.1f %% of the run)" : " (%.0f %% of the run)", percent);
    pt_str_add(out, "</span>");
}

static void put_finding(struct pt_str *out, const struct pt_node *finding, pt_u32 number)
{
    const char *severity = pt_html_child_text(finding, "severity");
    const char *stage = pt_html_child_text(finding, "stage");
    const char *confidence = pt_html_child_text(finding, "confidence");
    pt_str_printf(out, "<article class=\"finding\"><h3><span class=\"t1\">%u. ", number);
    pt_html_value(out, pt_node_child(finding, "title"));
    pt_str_add(out, "</span>");
    put_gain(out, finding);
    pt_str_add(out, "</h3><p class=\"note\">");
    if (severity)
        pt_html_badge(out, severity);
    if (stage) {
        pt_str_add(out, " in ");
        pt_html_text(out, stage);
    }
    pt_str_add(out, "</p>");
    if (pt_html_child_text(finding, "advice")) {
        pt_str_add(out, "<p class=\"try\"><b>Try:</b> ");
        pt_html_value(out, pt_node_child(finding, "advice"));
        pt_str_add(out, "</p>");
    }
    const struct pt_node *evidence = pt_node_child(finding, "evidence");
    if (evidence && evidence->first) {
        pt_str_add(out, "<details><summary>Evidence");
        if (confidence) {
            pt_str_add(out, " (confidence ");
            pt_html_text(out, confidence);
            pt_str_add(out, ")");
        }
        pt_str_add(out, "</summary>");
        pt_html_lines(out, evidence->first);
        pt_str_add(out, "</details>");
    }
    pt_str_add(out, "</article>\n");
}

void pt_html_findings(struct pt_str *out, const struct pt_node *findings)
{
    pt_u32 n = 0;
    for (const struct pt_node *item = findings->first; item; item = item->next)
        if (n++ < MOST_FINDINGS)
            put_finding(out, item, n);
    if (n > MOST_FINDINGS)
        pt_str_printf(out, "<p class=\"note\">… and %u more</p>", n - MOST_FINDINGS);
}

/* ---- failures ---- */

static void put_lines(struct pt_str *out, const struct pt_node *from, const struct pt_node *to)
{
    pt_str_add(out, "<pre>");
    for (; from != to; from = from->next) {
        pt_html_value(out, from);
        pt_str_char(out, '\n');
    }
    pt_str_add(out, "</pre>");
}

/* The end says most; what comes before is folded. */
static void put_log(struct pt_str *out, const struct pt_node *failure)
{
    enum { OPEN = 8 };
    const struct pt_node *lines = pt_node_child(failure, "log_tail"), *tail = lines ? lines->first : NULL;
    const char *log = pt_html_child_text(failure, "log");
    if (!tail)
        return;
    pt_u32 n = 0;
    for (const struct pt_node *line = tail; line; line = line->next)
        if (n++ >= OPEN)
            tail = tail->next;
    pt_str_add(out, "<p class=\"note\">End of ");
    pt_html_text(out, log ? log : "its output");
    pt_str_add(out, "</p>");
    if (tail != lines->first) {
        pt_str_printf(out, "<details><summary>%u lines before</summary>", n - OPEN);
        put_lines(out, lines->first, tail);
        pt_str_add(out, "</details>");
    }
    put_lines(out, tail, NULL);
}

static const char *status_of(const struct pt_node *stages, const char *name)
{
    for (const struct pt_node *stage = stages ? stages->first : NULL; stage && name; stage = stage->next) {
        const char *here = pt_html_child_text(stage, "stage");
        if (here && !strcmp(here, name))
            return pt_html_child_text(stage, "status");
    }
    return NULL;
}

void pt_html_failures(struct pt_str *out, const struct pt_node *failures, const struct pt_node *stages)
{
    for (const struct pt_node *item = failures->first; item; item = item->next) {
        const char *status = status_of(stages, pt_html_child_text(item, "stage"));
        pt_str_add(out, "<div class=\"box bad\"><h3>");
        pt_html_value(out, pt_node_child(item, "stage"));
        pt_str_char(out, ' ');
        pt_html_badge(out, status ? status : "failed");
        pt_str_add(out, "</h3><p>");
        pt_html_value_and_reason(out, pt_node_child(item, "reason"));
        pt_str_add(out, "</p>");
        put_log(out, item);
        pt_str_add(out, "</div>\n");
    }
}
