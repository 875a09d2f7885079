/* SPDX-License-Identifier: MIT
 *
 * Owns: the long form of a finding and of a failure. Threads: any. Never: judges.
 */
#include "finding.h"

#include <stdlib.h>
#include <string.h>

#include "report/doc/show.h"
#include "util/auto.h"
#include "panel.h"

static void put_headline(const struct pt_text_out *t, const struct pt_doc_finding *finding)
{
    enum { INDENT = 4 };
    const struct pt_finding *of = finding->of;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    PT_AUTO(pt_str_fini) struct pt_str clean = {0};
    if (of->gain_upper_s > 0 || pt_finding_has_time(of)) {
        const double s = of->is_observation ? of->time_s : of->gain_upper_s;
        const double percent = of->is_observation ? of->time_percent : of->gain_upper_percent;
        pt_str_add(&text, of->is_observation ? "" : "up to ");
        pt_show_value(&text, pt_cell(PT_SHOW_SECONDS, pt_real(s)), PT_STYLE_TERMINAL);
        pt_str_add(&text, "  ");
        pt_show_value(&text, pt_cell(PT_SHOW_PERCENT, pt_real(percent)), PT_STYLE_TERMINAL);
        pt_str_add(&text, "  ");
    }
    if (finding->stage)
        pt_str_printf(&text, "%s  ", finding->stage->name);
    pt_str_add(&text, of->title);
    pt_text_clean(&clean, pt_str_text(&text));
    pt_str_printf(t->out, "%2u  ", finding->number);
    pt_text_wrapped(t, pt_str_text(&clean), INDENT);
    pt_str_char(t->out, '\n');
}

void pt_text_finding(const struct pt_text_out *t, const struct pt_doc_finding *finding)
{
    const pt_u32 width = pt_text_label_width(&finding->evidence);
    const struct pt_line confidence = {
        NULL, "confidence", {PT_SHOW_TEXT, pt_text(pt_confidence_name(finding->of->confidence))}};
    const struct pt_line advice = {NULL, "try", {PT_SHOW_TEXT, pt_text(pt_finding_try(finding->of))}};
    bool says_where = !finding->where || !finding->of->place.text;
    put_headline(t, finding);
    for (size_t i = 0; i < finding->evidence.n; i++)
        says_where |= !strcmp(finding->evidence.items[i].label, "where");
    if (!says_where)
        pt_text_line(t, &(struct pt_line){NULL, "where", {PT_SHOW_TEXT, pt_text(finding->where)}}, "    ", width);
    for (size_t i = 0; i < finding->evidence.n; i++)
        pt_text_line(t, &finding->evidence.items[i], "    ", width);
    pt_text_line(t, &confidence, "    ", width);
    pt_text_line(t, &advice, "    ", width);
    if (finding->rows)
        pt_text_table(t, finding->rows, "      ");
}

static void put_title(const struct pt_text_out *t, const struct pt_doc_finding *finding)
{
    PT_AUTO(pt_str_fini) struct pt_str title = {0};
    if (finding->stage)
        pt_str_printf(&title, "%s: ", finding->stage->name);
    pt_str_add(&title, finding->of->title);
    pt_text_heading(t, pt_str_text(&title));
}

void pt_text_finding_alone(const struct pt_text_out *t, const struct pt_doc_finding *finding)
{
    const struct pt_finding *of = finding->of;
    const bool has_gain = of->gain_upper_s > 0;
    struct pt_lines lines = {0};
    put_title(t, finding);
    if (has_gain)
        pt_doc_line(&lines, NULL, "gain, at most", PT_SHOW_SECONDS, pt_real(of->gain_upper_s));
    if (finding->gain_of)
        pt_doc_line(&lines, NULL, "that is", PT_SHOW_TEXT, pt_text(finding->gain_of));
    if (has_gain)
        pt_doc_line(&lines, NULL, "of the run", PT_SHOW_PERCENT, pt_real(of->gain_upper_percent));
    if (pt_finding_has_time(of))
        pt_doc_line(&lines, NULL, "takes", PT_SHOW_SECONDS, pt_real(of->time_s));
    if (pt_finding_has_time(of))
        pt_doc_line(&lines, NULL, "of the run", PT_SHOW_PERCENT, pt_real(of->time_percent));
    pt_doc_line(&lines, NULL, "confidence", PT_SHOW_TEXT, pt_text(pt_confidence_name(of->confidence)));
    if (finding->where)
        pt_doc_line(&lines, NULL, "where", PT_SHOW_TEXT, pt_text(finding->where));
    pt_doc_line(&lines, NULL, "do", PT_SHOW_TEXT, pt_text(of->remedy));
    pt_doc_line(&lines, NULL, "or", PT_SHOW_TEXT, pt_text(of->advice));
    pt_text_lines(t, &lines, "");
    free(lines.items);
    if (finding->evidence.n) {
        pt_text_heading(t, "Evidence");
        pt_text_lines(t, &finding->evidence, "");
    }
    if (finding->rows)
        pt_text_panel(t, finding->rows, NULL);
    pt_text_panels(t, &finding->panels, NULL);
}

void pt_text_failure(const struct pt_text_out *t, const struct pt_doc_failure *failure, pt_u32 number)
{
    pt_str_printf(t->out, "%2u  ", number);
    pt_text_value(t, pt_cell(PT_SHOW_TEXT, pt_text(failure->stage)));
    pt_text_spaces(t, 2);
    pt_text_value(t, failure->reason);
    pt_str_char(t->out, '\n');
    const struct pt_line log = {"log", "log", {PT_SHOW_TEXT, pt_text(failure->log)}};
    if (failure->log)
        pt_text_line(t, &log, "    ", 12);
    for (pt_u32 i = 0; i < failure->n_lines; i++) {
        pt_str_add(t->out, "    | ");
        pt_text_value(t, pt_cell(PT_SHOW_TEXT, pt_text(failure->lines[i])));
        pt_str_char(t->out, '\n');
    }
    for (pt_u32 i = 0; i < failure->n_stacks; i++) {
        pt_str_add(t->out, "    : ");
        pt_text_value(t, pt_cell(PT_SHOW_TEXT, pt_text(failure->stacks[i])));
        pt_str_char(t->out, '\n');
    }
}
